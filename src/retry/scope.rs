//! Who shares: how many clients keep one account together.

use crate::measure::identifier::ClientIndex;

/// Who shares one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every client has its own.
    Client,
    /// All clients of the group share one.
    Group,
    /// So many clients after one another share one, at least 1: a process, a pod, a proxy.
    Processes(u32),
    /// All callers of a service whose policies say the same share one.
    Service,
}

impl Scope {
    /// Which account a client has, from 0.
    #[inline]
    pub fn place(self, client: ClientIndex) -> usize {
        match self {
            Scope::Client => client.at(),
            Scope::Group | Scope::Service => 0,
            Scope::Processes(clients) => client.at() / clients.max(1) as usize,
        }
    }

    /// How many accounts so many clients have.
    pub fn size(self, clients: u32) -> usize {
        match self {
            Scope::Client => clients as usize,
            Scope::Group | Scope::Service => 1,
            Scope::Processes(share) => clients.div_ceil(share.max(1)) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_a_place() {
        for (scope, places, size) in [
            (Scope::Client, [0, 4, 9], 10),
            (Scope::Group, [0, 0, 0], 1),
            (Scope::Service, [0, 0, 0], 1),
            (Scope::Processes(4), [0, 1, 2], 3),
            (Scope::Processes(20), [0, 0, 0], 1),
        ] {
            assert_eq!([0, 4, 9].map(|client| scope.place(ClientIndex(client))), places, "{scope:?}");
            assert_eq!(scope.size(10), size, "{scope:?}");
        }
    }
}
