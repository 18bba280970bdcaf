//! Names for the parts of a model: small numbers of different types, so that one cannot be taken for another.

/// A group of clients, by its place in the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupIndex(pub u16);

/// A service, by its place in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceIndex(pub u16);

/// A caller: an edge from a group or a service to the service that it calls, with its policy and link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallerIndex(pub u16);

/// A client of a group, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientIndex(pub u32);

impl GroupIndex {
    /// As an index of a list.
    #[inline]
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

impl ServiceIndex {
    /// As an index of a list.
    #[inline]
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

impl CallerIndex {
    /// As an index of a list.
    #[inline]
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

impl ClientIndex {
    /// As an index of a list.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}
