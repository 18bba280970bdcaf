//! The ledgers of all budgets: whose is where. What a budget does with them is in `retry/budget`; here is only that all of its parts are asked.

use super::flight::{Call, CallExtra};
use super::model::{Epoch, Model};
use crate::measure::identifier::{CallerIndex, ClientIndex};
use crate::measure::random::Purpose;
use crate::measure::time::Time;
use crate::retry::budget::{Budget, Ended, Leave, Ledgers, Part, Seat};
use crate::retry::outcome::Outcome;
use crate::retry::scope::Scope;

/// The ledgers of a run.
#[derive(Debug)]
pub(super) struct Books {
    ledgers: Vec<Ledgers>,
    accounts: Vec<Account>,
    /// The edge whose ledgers it uses, and which part's: by edge and part. Its own, but for the scope `service`.
    homes: Vec<Vec<(usize, usize)>>,
}

/// Where the ledgers of an edge are.
#[derive(Debug)]
struct Account {
    clients: u32,
    /// By part of the budget.
    places: Vec<usize>,
}

impl Books {
    /// The books at the start, given how many clients each edge has.
    pub fn new(model: &Model, clients: Vec<u32>) -> Books {
        let accounts = clients.into_iter().map(|clients| Account { clients, places: Vec::new() }).collect();
        let mut books = Books { ledgers: Vec::new(), accounts, homes: homes(model, &model.epochs[0]) };
        let anew = vec![true; books.accounts.len()];
        books.arrange(&anew);
        books
    }

    /// Other numbers hold: the edges whose ledgers have begun anew. A ledger goes on where only its numbers are others.
    pub fn change(&mut self, model: &Model, before: &Epoch, after: &Epoch) -> Vec<bool> {
        let budgets = || before.callers.iter().zip(&after.callers).map(|(old, new)| (&old.policy.budget, &new.policy.budget));
        if budgets().all(|(old, new)| old == new) {
            return vec![false; self.accounts.len()];
        }
        let homes = homes(model, after);
        let is_shared = |budget: &Option<Budget>| budget.as_ref().is_some_and(Budget::is_shared);
        let mut anew: Vec<bool> = budgets()
            .map(|budgets| match budgets {
                (Some(old), Some(new)) => !new.goes_on_as(old),
                (old, new) => old.is_some() || new.is_some(),
            })
            .collect();
        // What is shared goes on only where it goes on for all that share it.
        let shared: Vec<bool> = budgets().map(|(old, new)| is_shared(old) || is_shared(new)).collect();
        let changed = |index: usize| shared[index] && (anew[index] || self.homes[index] != homes[index]);
        if (0..anew.len()).any(changed) {
            anew.iter_mut().zip(shared).for_each(|(anew, shared)| *anew |= shared);
        }
        self.homes = homes;
        self.arrange(&anew);
        anew
    }

    /// Gives each part of each edge its place, with the ledgers that it had where these go on.
    fn arrange(&mut self, anew: &[bool]) {
        let mut before = std::mem::take(&mut self.ledgers);
        for (index, anew) in anew.iter().enumerate() {
            let had = std::mem::take(&mut self.accounts[index].places);
            for part in 0..self.homes[index].len() {
                let home = self.homes[index][part];
                let place = if home == (index, part) {
                    self.ledgers.push(if *anew { Ledgers::default() } else { std::mem::take(&mut before[had[part]]) });
                    self.ledgers.len() - 1
                } else {
                    self.accounts[home.0].places[home.1]
                };
                self.accounts[index].places.push(place);
            }
        }
    }

    /// Each part of the budget of a client's call along an edge with its ledgers.
    #[inline]
    fn each<'b>(
        &mut self,
        budget: &'b Budget,
        caller: CallerIndex,
        client: ClientIndex,
        mut act: impl FnMut(&'b Part, &mut Ledgers, Seat),
    ) {
        let account = &self.accounts[caller.at()];
        let seat = Seat { client, clients: account.clients };
        for (part, place) in budget.parts().iter().zip(&account.places) {
            act(part, &mut self.ledgers[*place], seat);
        }
    }

    #[inline]
    pub fn call_starts(&mut self, budget: &Budget, caller: CallerIndex, client: ClientIndex, now: Time) {
        self.each(budget, caller, client, |part, ledgers, seat| part.call_starts(ledgers, seat, now));
    }

    /// Whether the next attempt of a call may be sent now; the first part that says otherwise decides.
    pub fn may_send(&mut self, budget: &Budget, (call, extra): (&Call, &CallExtra), now: Time) -> Leave {
        let (number, mut leave) = (extra.rounds(call.attempts) + 1, Leave::Go);
        // A retry that a throttle held back was an attempt too: the next has another draw.
        let draw = || call.address.draw(Purpose::Throttle, (call.attempts + 1 + extra.skipped).into());
        self.each(budget, call.caller, extra.client, |part, ledgers, seat| {
            if leave == Leave::Go {
                leave = part.may_send(ledgers, seat, number, now, draw);
            }
        });
        leave
    }

    /// The next attempt of a call is sent.
    pub fn sent(&mut self, budget: &Budget, (call, extra): (&Call, &mut CallExtra), now: Time) {
        let number = extra.rounds(call.attempts) + 1;
        self.each(budget, call.caller, extra.client, |part, ledgers, seat| part.sent(ledgers, seat, number, now));
        extra.paid.send();
    }

    /// The present attempt of a call has ended as its `last`.
    pub fn attempt_ends(&mut self, budget: &Budget, (call, extra): (&Call, &mut CallExtra), worth_retry: bool, now: Time) {
        let (ended, paid) = (Ended { outcome: call.last, worth_retry, number: extra.rounds(call.attempts) }, extra.paid);
        self.each(budget, call.caller, extra.client, |part, ledgers, seat| part.attempt_ends(ledgers, seat, ended, paid, now));
        extra.paid.end();
    }

    /// A retry is wanted: true where all parts grant it, which is then paid.
    pub fn retry(&mut self, budget: &Budget, (call, extra): (&Call, &mut CallExtra), now: Time) -> bool {
        let (outcome, mut cost) = (call.last, Some(0));
        self.each(budget, call.caller, extra.client, |part, ledgers, seat| {
            cost = cost.and_then(|cost| part.may_retry(ledgers, seat, outcome, now).map(|own| own.max(cost)));
        });
        let Some(cost) = cost else { return false };
        self.each(budget, call.caller, extra.client, |part, ledgers, seat| part.retried(ledgers, seat, cost, now));
        extra.paid.grant(cost);
        true
    }

    /// Whether all parts would grant a retry now; nothing is paid.
    pub fn would_grant(&mut self, budget: &Budget, caller: CallerIndex, client: ClientIndex, now: Time) -> bool {
        let mut grants = true;
        let asks = |part: &Part, ledgers: &mut Ledgers, seat| grants &= part.may_retry(ledgers, seat, Outcome::Timeout, now).is_some();
        self.each(budget, caller, client, asks);
        grants
    }

    /// A call ends, with the outcome of its last attempt.
    pub fn call_ends(&mut self, budget: &Budget, (call, extra): (&Call, &CallExtra), worth_retry: bool, now: Time) {
        let (last, paid) = (Ended { outcome: call.last, worth_retry, number: extra.rounds(call.attempts) }, extra.paid);
        self.each(budget, call.caller, extra.client, |part, ledgers, seat| part.call_ends(ledgers, seat, last, paid, now));
    }

    /// Nobody waits for a call any more.
    pub fn gives_up(&mut self, budget: &Budget, (call, extra): (&Call, &CallExtra)) {
        let (number, paid) = (extra.rounds(call.attempts), extra.paid);
        self.each(budget, call.caller, extra.client, |part, ledgers, seat| part.gives_up(ledgers, seat, number, paid));
    }
}

/// The first edge to the same service with an equal part, where its scope is the service; itself otherwise. By edge and part.
fn homes(model: &Model, epoch: &Epoch) -> Vec<Vec<(usize, usize)>> {
    let parts = |caller: usize| epoch.callers[caller].policy.budget.iter().flat_map(Budget::parts);
    let to = |caller: usize| model.callers[CallerIndex(caller as u16).at()].to;
    let home = |caller: usize, part: usize, wanted: &Part| {
        let equal = |other: &usize| to(*other) == to(caller);
        let place = |other: usize| parts(other).position(|own| own == wanted).map(|place| (other, place));
        let shared = (wanted.scope == Scope::Service).then(|| (0..caller).filter(equal).find_map(place)).flatten();
        shared.unwrap_or((caller, part))
    };
    (0..epoch.callers.len()).map(|caller| parts(caller).enumerate().map(|(part, wanted)| home(caller, part, wanted)).collect()).collect()
}
