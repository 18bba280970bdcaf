//! retrystorm: see what retries do to a service, and a service to its retries, before the outage.
//!
//! A scenario (TOML) becomes models, a model and a seed become a run, and a run is a pure function:
//!
//! ```
//! use retrystorm::measure::random::Seed;
//! use retrystorm::study::scenario::Scenario;
//!
//! let text = r#"
//!     [run]
//!     horizon = "10s"
//!     [clients.web]
//!     count = 100
//!     calls = "api"
//!     load = { open = { rate = "50/s" } }
//!     [service.api]
//!     workers = 10
//!     time = "100ms"
//! "#;
//! let scenario = Scenario::parse("example", text, None, &[])?;
//! let model = scenario.model(&scenario.cells[0])?;
//! let run = retrystorm::world::run(&model, Seed { seed: 1, replication: 0 });
//! assert_eq!(run.totals.calls, run.totals.succeeded + run.totals.failed + run.totals.unfinished);
//! # Ok::<(), retrystorm::study::scenario::ScenarioError>(())
//! ```
//!
//! The floors, from the ground up: [`measure`] knows numbers with units, [`retry`], [`service`], [`load`] and [`link`] decide,
//! [`world`] schedules and counts, [`study`] says what to run, [`report`] what to show, and [`cli`] is the door.

#![forbid(unsafe_code)]

pub mod cli;
pub mod link;
pub mod load;
pub mod measure;
pub mod report;
pub mod retry;
pub mod service;
pub mod study;
pub mod world;
