//! Which attempts are turned away although there is room for them.

use crate::measure::time::{Duration, Time};

/// What a service does with attempts whose time is over, as far as it knows: an attempt carries the time its caller gives up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shed {
    /// It does not look.
    #[default]
    None,
    /// Turned away when the caller has given up.
    Expired,
    /// Turned away when the work could not be done before the caller gives up, if it took as long as it does on average.
    Doomed,
}

impl Shed {
    /// Whether an attempt is turned away now, given the time its caller gives up and the mean of the work still to come.
    #[inline]
    pub fn turns_away(self, now: Time, until: Time, work: impl FnOnce() -> Duration) -> bool {
        match self {
            Shed::None => false,
            Shed::Expired => now > until,
            // A reply at the very end is in time.
            Shed::Doomed => until != Time::NEVER && now + work() > until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_at_the_very_end_is_in_time() {
        let at = |shed: Shed, now: u64| shed.turns_away(Time(now), Time(100), || Duration(10));
        assert_eq!([Shed::None, Shed::Expired, Shed::Doomed].map(|shed| at(shed, 90)), [false, false, false]);
        assert_eq!([Shed::None, Shed::Expired, Shed::Doomed].map(|shed| at(shed, 91)), [false, false, true]);
        assert_eq!([Shed::None, Shed::Expired, Shed::Doomed].map(|shed| at(shed, 101)), [false, true, true]);
        assert!(!Shed::Doomed.turns_away(Time(5), Time::NEVER, || Duration::MAX));
    }
}
