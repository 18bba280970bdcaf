//! Retry budgets and throttles: what many calls may spend on attempts together. One file a mechanism, each plain data and a small
//! state machine; here is what is asked of all of them, and when.
//!
//! ```text
//! call_starts ─> may_send ─> sent ─> attempt_ends ─> may_retry, retried ─> may_send ... ─> call_ends
//!                   └─ Wait, Skip: asked again later   └─ no: the call ends     gives_up: nobody waits any more
//! ```
//! A budget has parts, and all must say yes. What is asked first changes nothing, so that no part has to give anything back where a later one says no.

pub mod adaptive_reject;
pub mod bucket;
pub mod concurrency;
pub mod cubic;
pub mod quota;
pub mod ratio;
pub mod ratio_cap;
pub mod sliding;
pub mod token_throttle;
pub mod window;

use super::outcome::Outcome;
use super::scope::Scope;
use crate::measure::identifier::ClientIndex;
use crate::measure::random::Draw;
use crate::measure::time::{Duration, Time};
use adaptive_reject::AdaptiveReject;
use bucket::Bucket;
use concurrency::Concurrency;
use cubic::Cubic;
use quota::Quota;
use ratio::Ratio;
use ratio_cap::{Of, RatioCap};
use token_throttle::{TokenThrottle, WhenEmpty};
use window::{DepositOn, Window};

/// What limits the attempts of many calls together: all parts must grant.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// At least one.
    parts: Vec<Part>,
    /// Whether any part limits or counts sendings and their ends; the others are not asked, which is most of what a call does.
    follows_attempts: bool,
    /// Whether any part hears of the end of a call.
    follows_ends: bool,
}

/// One mechanism, and who shares its ledger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The mechanism.
    pub kind: Kind,
    /// Who shares a ledger.
    pub scope: Scope,
}

/// All mechanisms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Calls deposit a share of a retry.
    Ratio(Ratio),
    /// A purse that pays for retries (AWS).
    Quota(Quota),
    /// Failures take tokens, retries need more than half of them (gRPC).
    TokenThrottle(TokenThrottle),
    /// Deposits and withdrawals over a window (tower, Finagle).
    Window(Window),
    /// So many retries at once (Envoy).
    Concurrency(Concurrency),
    /// Retries stay below a share of the traffic (SRE).
    RatioCap(RatioCap),
    /// Attempts are turned away with a probability (SRE, adaptive throttling).
    AdaptiveReject(AdaptiveReject),
    /// A rate limit that follows CUBIC (AWS, adaptive mode).
    Cubic(Cubic),
    /// A bucket of tokens (Brooker).
    Bucket(Bucket),
}

/// The ledgers of one part: a list for each kind, of which only that of the part's kind is ever filled, when it is first needed.
#[derive(Clone, Debug, Default)]
pub struct Ledgers {
    ratio: Vec<ratio::Ledger>,
    quota: Vec<quota::Ledger>,
    token_throttle: Vec<token_throttle::Ledger>,
    window: Vec<window::Ledger>,
    concurrency: Vec<concurrency::Ledger>,
    ratio_cap: Vec<ratio_cap::Ledger>,
    adaptive_reject: Vec<adaptive_reject::Ledger>,
    cubic: Vec<cubic::Ledger>,
    bucket: Vec<bucket::Ledger>,
}

/// Who asks: a client of so many.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// The client.
    pub client: ClientIndex,
    /// How many clients there are.
    pub clients: u32,
}

/// What a call keeps of what it has paid, for all parts together: a budget has one quota at most. Every call has it, so it is small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paid(u32);

const IN_FLIGHT: u32 = 1 << 31;
const RETRY_GRANTED: u32 = 1 << 30;

impl Paid {
    /// What its last retry cost in a quota: less than 2^30.
    pub fn cost(self) -> u32 {
        self.0 & (RETRY_GRANTED - 1)
    }

    /// Whether a retry is granted whose attempt has not ended.
    pub fn retry_granted(self) -> bool {
        self.0 & RETRY_GRANTED != 0
    }

    /// Whether an attempt is under way.
    pub fn in_flight(self) -> bool {
        self.0 & IN_FLIGHT != 0
    }

    /// A retry is granted at this cost.
    pub fn grant(&mut self, cost: u32) {
        self.0 = self.0 & IN_FLIGHT | RETRY_GRANTED | cost & (RETRY_GRANTED - 1);
    }

    /// An attempt is sent.
    pub fn send(&mut self) {
        self.0 |= IN_FLIGHT;
    }

    /// An attempt has ended, and a granted retry with it.
    pub fn end(&mut self) {
        self.0 = self.cost();
    }
}

/// An attempt that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// Whether that is worth a retry.
    pub worth_retry: bool,
    /// Its number among the attempts of its call, from 1.
    pub number: u32,
}

/// Whether an attempt may be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// Yes.
    Go,
    /// Not before this time has passed: ask again.
    Wait(Duration),
    /// No, and it counts as one that was: on to the next wait.
    Skip,
    /// No: the call ends.
    Deny,
}

/// The ledger of a seat; the list grows to all that the scope has when it is first used.
#[inline]
fn of<T: Clone + Default>(list: &mut Vec<T>, scope: Scope, seat: Seat) -> &mut T {
    let place = scope.place(seat.client);
    if list.len() <= place {
        grow(list, scope.size(seat.clients));
    }
    &mut list[place]
}

#[cold]
fn grow<T: Clone + Default>(list: &mut Vec<T>, size: usize) {
    list.resize(size, T::default());
}

impl Part {
    /// A call starts.
    #[inline]
    pub fn call_starts(&self, ledgers: &mut Ledgers, seat: Seat, now: Time) {
        match &self.kind {
            Kind::Ratio(ratio) => ratio.deposit(of(&mut ledgers.ratio, self.scope, seat), now),
            Kind::Window(window) if window.deposit_on == DepositOn::Call => {
                window.deposit(of(&mut ledgers.window, self.scope, seat), now);
            }
            Kind::RatioCap(cap) => cap.start(of(&mut ledgers.ratio_cap, self.scope, seat), now),
            Kind::Bucket(bucket) => bucket.deposit(of(&mut ledgers.bucket, self.scope, seat)),
            _ => {}
        }
    }

    /// Whether attempt `number` (from 1) of a call may be sent now. An attempt that is turned away counts as a request.
    pub fn may_send(&self, ledgers: &mut Ledgers, seat: Seat, number: u32, now: Time, draw: impl Fn() -> Draw) -> Leave {
        match &self.kind {
            Kind::TokenThrottle(throttle) if throttle.when_empty == WhenEmpty::Wait && number > 1 => {
                let allowed = throttle.allows(of(&mut ledgers.token_throttle, self.scope, seat));
                if allowed { Leave::Go } else { Leave::Skip }
            }
            Kind::AdaptiveReject(reject) => {
                let ledger = of(&mut ledgers.adaptive_reject, self.scope, seat);
                if reject.rejects(ledger, number, now, draw()) {
                    reject.request(ledger, now);
                    return Leave::Deny;
                }
                Leave::Go
            }
            Kind::Cubic(cubic) => cubic.wait(of(&mut ledgers.cubic, self.scope, seat), now).map_or(Leave::Go, Leave::Wait),
            _ => Leave::Go,
        }
    }

    /// Attempt `number` is sent, at the instant at which all parts have said that it may.
    pub fn sent(&self, ledgers: &mut Ledgers, seat: Seat, number: u32, now: Time) {
        match &self.kind {
            Kind::Concurrency(concurrency) => {
                let ledger = of(&mut ledgers.concurrency, self.scope, seat);
                ledger.in_flight += 1;
                ledger.retries += u32::from(number > 1 && !concurrency.counts_backoff);
            }
            Kind::AdaptiveReject(reject) => reject.request(of(&mut ledgers.adaptive_reject, self.scope, seat), now),
            Kind::Cubic(cubic) => cubic.send(of(&mut ledgers.cubic, self.scope, seat)),
            _ => {}
        }
    }

    /// An attempt has ended: its outcome is known.
    pub fn attempt_ends(&self, ledgers: &mut Ledgers, seat: Seat, ended: Ended, paid: Paid, now: Time) {
        let ok = ended.outcome == Outcome::Ok;
        match &self.kind {
            Kind::TokenThrottle(throttle) if ok => throttle.succeed(of(&mut ledgers.token_throttle, self.scope, seat)),
            Kind::TokenThrottle(throttle) if ended.worth_retry => throttle.fail(of(&mut ledgers.token_throttle, self.scope, seat)),
            Kind::Concurrency(_) => self.gives_up(ledgers, seat, ended.number, paid),
            Kind::AdaptiveReject(reject) if ok => reject.accept(of(&mut ledgers.adaptive_reject, self.scope, seat), now),
            Kind::Cubic(cubic) => cubic.end(of(&mut ledgers.cubic, self.scope, seat), ended.outcome, now),
            _ => {}
        }
    }

    /// Whether a retry after this outcome is granted: None where it is not, otherwise what it costs in a quota.
    #[inline]
    pub fn may_retry(&self, ledgers: &mut Ledgers, seat: Seat, outcome: Outcome, now: Time) -> Option<u32> {
        let granted = match &self.kind {
            Kind::Ratio(ratio) => ratio.covers(of(&mut ledgers.ratio, self.scope, seat), now),
            Kind::Quota(quota) => return quota.price(of(&mut ledgers.quota, self.scope, seat), outcome, now),
            Kind::TokenThrottle(throttle) => {
                throttle.when_empty == WhenEmpty::Wait || throttle.allows(of(&mut ledgers.token_throttle, self.scope, seat))
            }
            Kind::Window(window) => window.covers(of(&mut ledgers.window, self.scope, seat), now),
            Kind::Concurrency(concurrency) => concurrency.fits(of(&mut ledgers.concurrency, self.scope, seat)),
            Kind::RatioCap(cap) => cap.allows(of(&mut ledgers.ratio_cap, self.scope, seat), now),
            Kind::Bucket(bucket) => bucket.allows(of(&mut ledgers.bucket, self.scope, seat)),
            Kind::AdaptiveReject(_) | Kind::Cubic(_) => true,
        };
        granted.then_some(0)
    }

    /// A retry is made, at the instant at which all parts have granted it; `cost` is what [`Part::may_retry`] said.
    #[inline]
    pub fn retried(&self, ledgers: &mut Ledgers, seat: Seat, cost: u32, now: Time) {
        match &self.kind {
            Kind::Ratio(ratio) => ratio.withdraw(of(&mut ledgers.ratio, self.scope, seat)),
            Kind::Quota(quota) => quota.pay(of(&mut ledgers.quota, self.scope, seat), cost),
            Kind::Window(window) => window.withdraw(of(&mut ledgers.window, self.scope, seat)),
            Kind::Concurrency(concurrency) if concurrency.counts_backoff => {
                of(&mut ledgers.concurrency, self.scope, seat).retries += 1;
            }
            Kind::RatioCap(cap) => cap.retry(of(&mut ledgers.ratio_cap, self.scope, seat), now),
            Kind::Bucket(bucket) => bucket.withdraw(of(&mut ledgers.bucket, self.scope, seat)),
            _ => {}
        }
    }

    /// A call has ended with the outcome of its last attempt, `number` (0 where nothing was sent).
    pub fn call_ends(&self, ledgers: &mut Ledgers, seat: Seat, last: Ended, paid: Paid, now: Time) {
        let ok = last.outcome == Outcome::Ok;
        match &self.kind {
            Kind::Quota(quota) if ok => quota.succeed(of(&mut ledgers.quota, self.scope, seat), last.number > 1, paid.cost(), now),
            Kind::Window(window) => {
                let deposits = match window.deposit_on {
                    DepositOn::Call => false,
                    DepositOn::Success => ok,
                    DepositOn::End => ok || !last.worth_retry,
                };
                if deposits {
                    window.deposit(of(&mut ledgers.window, self.scope, seat), now);
                }
            }
            Kind::Concurrency(_) => self.gives_up(ledgers, seat, last.number, paid),
            _ => {}
        }
    }

    /// What counted as under way does no more: attempt `number` has ended, or nobody waits for it.
    pub fn gives_up(&self, ledgers: &mut Ledgers, seat: Seat, number: u32, paid: Paid) {
        if let Kind::Concurrency(concurrency) = &self.kind {
            let ledger = of(&mut ledgers.concurrency, self.scope, seat);
            let retry = if concurrency.counts_backoff { paid.retry_granted() } else { paid.in_flight() && number > 1 };
            ledger.in_flight -= u32::from(paid.in_flight());
            ledger.retries -= u32::from(retry);
        }
    }
}

impl Budget {
    /// A budget of these parts, at least one.
    pub fn of(parts: Vec<Part>) -> Budget {
        let any = |of: fn(&Kind) -> bool| parts.iter().any(|part| of(&part.kind));
        Budget {
            follows_attempts: any(|kind| {
                !matches!(kind, Kind::Ratio(_) | Kind::Quota(_) | Kind::Window(_) | Kind::RatioCap(_) | Kind::Bucket(_))
            }),
            follows_ends: any(|kind| matches!(kind, Kind::Quota(_) | Kind::Window(_) | Kind::Concurrency(_))),
            parts,
        }
    }

    /// Its parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether [`Part::may_send`], [`Part::sent`] and [`Part::attempt_ends`] mean anything to it.
    #[inline]
    pub fn follows_attempts(&self) -> bool {
        self.follows_attempts
    }

    /// Whether [`Part::call_ends`] and [`Part::gives_up`] mean anything to it.
    #[inline]
    pub fn follows_ends(&self) -> bool {
        self.follows_ends
    }

    /// Whether its ledgers are those of another budget, with other numbers: part by part the same kind and scope.
    pub fn goes_on_as(&self, other: &Budget) -> bool {
        let same = |(own, other): (&Part, &Part)| {
            let kind = match (&own.kind, &other.kind) {
                // What counts as under way must be what counted.
                (Kind::Concurrency(own), Kind::Concurrency(other)) => own.counts_backoff == other.counts_backoff,
                (own, other) => std::mem::discriminant(own) == std::mem::discriminant(other),
            };
            kind && own.scope == other.scope
        };
        self.parts.len() == other.parts.len() && self.parts.iter().zip(&other.parts).all(same)
    }

    /// Whether callers of one service share a ledger of it.
    pub fn is_shared(&self) -> bool {
        self.parts.iter().any(|part| part.scope == Scope::Service)
    }

    /// Whether it can end a call before anything was sent.
    pub fn denies_first(&self) -> bool {
        self.parts.iter().any(|part| match &part.kind {
            Kind::AdaptiveReject(reject) => !reject.only_retries && reject.most > 0.0,
            // A wait that would pass the deadline.
            Kind::Cubic(_) => true,
            _ => false,
        })
    }

    /// Whether it ends retries that follow each other at one instant and never succeed.
    pub fn ends_an_instant(&self) -> bool {
        self.parts.iter().any(|part| match &part.kind {
            Kind::Ratio(_) | Kind::Window(_) | Kind::Bucket(_) => true,
            Kind::Quota(quota) => quota.least_cost() > 0,
            Kind::TokenThrottle(throttle) => throttle.failure_cost > 0 && throttle.when_empty == WhenEmpty::Fail,
            Kind::RatioCap(cap) => cap.of == Of::Calls || cap.share < 1.0,
            Kind::AdaptiveReject(reject) => reject.most > 0.0,
            Kind::Concurrency(_) | Kind::Cubic(_) => false,
        })
    }

    /// Whether it ends all retries in the end, where nothing ever succeeds and no more calls start.
    pub fn runs_dry(&self) -> bool {
        self.parts.iter().any(|part| match &part.kind {
            Kind::Ratio(ratio) => ratio.min_per_second * ratio.window.seconds() < 1.0,
            Kind::Quota(quota) => quota.least_cost() > 0 && quota.refill == 0.0,
            Kind::TokenThrottle(throttle) => throttle.failure_cost > 0 && throttle.when_empty == WhenEmpty::Fail,
            Kind::Window(window) => window.min_per_second == 0,
            Kind::Bucket(_) => true,
            Kind::RatioCap(cap) => cap.of == Of::Calls || cap.share < 1.0,
            Kind::AdaptiveReject(_) | Kind::Concurrency(_) | Kind::Cubic(_) => false,
        })
    }
}
