//! Floor 1: the way between a caller and a service.

use crate::measure::distribution::Distribution;
use crate::measure::random::Draw;
use crate::measure::time::Duration;

/// One way of a message; request and reply each draw their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// How long a message takes.
    pub delay: Distribution,
    /// The share of messages that never arrive.
    pub loss: f64,
    /// Which answers travel back.
    pub replies: Replies,
}

/// Which answers travel back over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    /// Every answer takes its way.
    All,
    /// No news is good news: a success is known to the caller at the instant the service is done, and only failures travel.
    Failures,
}

impl Link {
    /// No delay, no loss.
    pub fn direct() -> Link {
        Link { delay: Distribution::Constant(Duration::ZERO), loss: 0.0, replies: Replies::All }
    }

    /// How many messages a success takes: there, and back where it is answered.
    pub fn ways(&self) -> f64 {
        match self.replies {
            Replies::All => 2.0,
            Replies::Failures => 1.0,
        }
    }

    /// Whether a message arrives at the instant it is sent.
    #[inline]
    pub fn is_direct(&self) -> bool {
        self.loss == 0.0 && matches!(self.delay, Distribution::Constant(Duration::ZERO))
    }

    /// Whether the message that this draw belongs to is lost. Most links lose nothing, and then nothing is drawn.
    #[inline]
    pub fn loses(&self, draw: impl FnOnce() -> Draw) -> bool {
        self.loss > 0.0 && draw().hits(self.loss)
    }
}
