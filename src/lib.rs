//! retrystorm: see what retries do to a service, and a service to its retries, before the outage.
pub mod link;
pub mod load;
pub mod measure;
pub mod report;
pub mod retry;
pub mod service;
pub mod study;
pub mod world;
