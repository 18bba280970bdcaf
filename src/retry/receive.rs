//! Queue-driven retries: a message that is not deleted comes back. The model is Amazon SQS with Lambda as its consumer.
//!
//! Source: the guides of SQS (visibility timeout, redrive policy) and of Lambda (event source mapping, reporting batch item failures).

use crate::measure::time::Duration;

/// A queue between the clients and the service, and the function that empties it. Each call is a message; a function takes some at a
/// time and makes their calls one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sqs {
    /// How long a message that was received stays hidden; not deleted by then, it can be received again. Above zero.
    pub visibility_timeout: Duration,
    /// How often a message may be received; at least 1. One that would be received once more is a dead letter: its call has failed.
    pub max_receives: u32,
    /// Messages that a function takes at once, at most; 1 to 10,000.
    pub batch_size: u32,
    /// How long a function waits for a batch to fill.
    pub window: Duration,
    /// Functions at once; at least 1.
    pub concurrency: u32,
    /// After how long a function is stopped, and its whole batch comes back; at most the visibility timeout.
    pub function_timeout: Duration,
    /// Whether a function reports which messages have failed. If not, the first failure ends it and the whole batch comes back, with
    /// what was done already.
    pub report_failures: bool,
}
