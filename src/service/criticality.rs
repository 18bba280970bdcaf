//! How much a call matters: the four classes of Google's SRE book, chapter 21.

/// The class of a call, inherited by all calls further down. The first is the most important.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Criticality {
    /// Failure is seen at once, by many.
    CriticalPlus,
    /// Failure is seen: the default.
    #[default]
    Critical,
    /// May fail now and then: batch work, which is tried again.
    SheddablePlus,
    /// May fail often.
    Sheddable,
}

/// How many classes there are.
pub const CLASSES: usize = 4;
