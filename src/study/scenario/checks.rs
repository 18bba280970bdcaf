//! What no single value shows: models whose time would stand still, or that would never end.

use super::diagnostics::Place;
use super::reader::Context;
use crate::load::Load;
use crate::measure::identifier::{CallerIndex, ServiceIndex};
use crate::retry::breaker::Rejection;
use crate::retry::budget::Budget;
use crate::retry::hint::RetryAfter;
use crate::retry::outcome::{Outcome, OutcomeSet};
use crate::retry::policy::Policy;
use crate::service::admission::Shed;
use crate::service::hint::Hint;
use crate::service::script::Answer;
use crate::service::{Down, Service};
use crate::world::model::{Caller, Epoch, Group, Model};

/// Where the parts of a model were written.
pub struct Places {
    /// The load of each group.
    pub loads: Vec<Place>,
    /// Whether the calls of each group may go on for ever.
    pub endless: Vec<bool>,
    /// The policy of each edge.
    pub policies: Vec<Place>,
    /// The first fault with a condition.
    pub conditional: Option<Place>,
}

/// Reports every problem of the model as a whole.
pub fn check(context: &mut Context, model: &Model, places: &Places) {
    for (index, group) in model.groups.iter().enumerate() {
        if model.horizon.is_none() && places.endless[index] {
            let message = format!("the load of `{}` never ends, and neither would the run", group.name);
            context.problem(places.loads[index], message, "add `horizon = \"5m\"` to [run]");
        }
        if let Some(what) = breakers_kept(model, group) {
            let message = format!("the breakers of `{}` would take {what} of memory", group.name);
            context.problem(places.loads[index], message, "write a smaller count, a smaller window, or a breaker of the scope \"group\"");
        }
        if let Some(what) = kept_by_client(model, group).filter(|_| group.count > MOST_KEPT) {
            let message = format!("{} clients of `{}` are more than the {MOST_KEPT} for which {what} can be kept", group.count, group.name);
            context.problem(places.loads[index], message, "write a smaller count, or a budget of the scope \"group\"");
        }
        if spins(model, group) {
            let message =
                format!("the clients of `{}` think for no time, and could be answered in no time: time would stand still", group.name);
            context.problem(places.loads[index], message, "give a think time, such as { think = \"100ms\" }, or the link a delay");
        }
        let timed = |policy: &Policy| policy.deadline.is_some() || policy.max_elapsed.is_some();
        if group.via.is_some() && model.epochs.iter().any(|epoch| timed(&epoch.callers[group.caller.at()].policy)) {
            let message = format!("the calls of `{}` go through a queue, where a deadline from their start means nothing", group.name);
            context.problem(
                places.policies[group.caller.at()],
                message,
                "leave out `deadline` and `max_elapsed`: `function_timeout` is what ends a receive",
            );
        }
        if model.horizon.is_none() {
            never_ends(context, model, places, group);
        }
    }
    if model.horizon.is_none() {
        machines_that_never_end(context, model, places);
    }
    if let (Some(place), None) = (places.conditional, model.horizon) {
        context.problem(place, "a fault with a condition needs a run with an end", "add `horizon = \"5m\"` to [run]");
    }
    for (index, place) in places.policies.iter().enumerate() {
        if let Some((message, help)) = asks_for_ever(model, index).or_else(|| asks_pool_for_ever(model, index)) {
            context.problem(*place, format!("`{}` {message}", model.callers[index].name), help);
        } else if stands_still(model, index) {
            let name = &model.callers[index].name;
            let message = format!("`{name}` retries for ever, at once, what fails at once: time would stand still");
            context.problem(*place, message, "give a backoff, a limit of attempts, or the link a delay");
        }
    }
}

/// What goes on for ever by itself needs a horizon.
fn machines_that_never_end(context: &mut Context, model: &Model, places: &Places) {
    let any = |has: fn(&Service) -> bool| model.all_epochs().any(|epoch| epoch.services.iter().any(has));
    let found = [
        (any(|service| service.autoscaler.is_some()), "an autoscaler needs a run with an end"),
        (any(|service| service.crash.is_some()), "a process that dies may do so again and again: it needs a run with an end"),
    ];
    for (_, message) in found.into_iter().filter(|(is_there, _)| *is_there) {
        places.loads.iter().take(1).for_each(|place| context.problem(*place, message, "add `horizon = \"5m\"` to [run]"));
    }
}

/// Clients for each of which something is kept, at most: up to 112 bytes each.
const MOST_KEPT: u32 = 50_000_000;

/// Memory for the breakers of a group, at most.
const MOST_BYTES: u64 = 100 * MOST_KEPT as u64;

/// What a run must keep for each client of a group.
fn kept_by_client(model: &Model, group: &Group) -> Option<&'static str> {
    let policies = || model.all_epochs().map(|epoch| &epoch.callers[group.caller.at()].policy);
    match &group.load {
        Load::Closed { .. } => return Some("the state of a closed load"),
        Load::Once { spread, .. } | Load::Periodic { splay: spread, .. } if spread.0 > 0 => return Some("a start"),
        _ => {}
    }
    let many = |budget: &Budget| budget.parts().iter().any(|part| part.scope.size(group.count) > MOST_KEPT as usize);
    if policies().any(|policy| policy.pool.is_some_and(|pool| pool.scope.size(group.count) > MOST_KEPT as usize)) {
        return Some("a pool");
    }
    if policies().any(|policy| policy.budget.as_ref().is_some_and(many)) {
        return Some("a budget");
    }
    None
}

/// The memory that the breakers of a group would take, in words, where that is too much.
fn breakers_kept(model: &Model, group: &Group) -> Option<String> {
    let breakers = model.epochs.iter().filter_map(|epoch| epoch.callers[group.caller.at()].policy.breaker.as_ref());
    let bytes = breakers.map(|breaker| breaker.bytes().saturating_mul(breaker.scope.size(group.count) as u64)).max()?;
    (bytes > MOST_BYTES).then(|| format!("{} GB", bytes.div_ceil(1_000_000_000)))
}

/// Whether a message takes no time.
fn is_direct(caller: &Caller) -> bool {
    caller.link.loss == 0.0 && caller.link.delay.is_zero()
}

/// The work of one service in one epoch.
struct View<'a> {
    model: &'a Model,
    epoch: &'a Epoch,
    service: ServiceIndex,
}

impl View<'_> {
    fn service(&self) -> &Service {
        &self.epoch.services[self.service.at()]
    }

    /// The services it calls over a link without delay.
    fn direct_calls(&self) -> impl Iterator<Item = View<'_>> {
        let calls = self.model.services[self.service.at()].calls.iter();
        let direct = calls.filter(|call| is_direct(&self.epoch.callers[call.at()]));
        direct.map(|call| View { model: self.model, epoch: self.epoch, service: self.model.callers[call.at()].to })
    }

    /// Whether a call can succeed without any time passing.
    fn succeeds_at_once(&self) -> bool {
        let (service, calls) = (self.service(), &self.model.services[self.service.at()].calls);
        let at_once = match service.script.last() {
            Some(Answer::Work(Outcome::Ok, Some(delay))) => delay.0 == 0,
            Some(Answer::Work(Outcome::Ok, None)) | None => service.works_at_once(),
            Some(_) => false,
        };
        let works = at_once && service.down.is_none() && service.workers != Some(0);
        works && self.direct_calls().filter(View::succeeds_at_once).count() == calls.len()
    }

    /// Whether an attempt can fail without any time passing, and another at the same instant too, and so on.
    fn fails_at_once(&self) -> bool {
        self.model.stations(self.service).any(|place| self.replica_fails_at_once(&self.epoch.services[place]))
    }

    fn replica_fails_at_once(&self, service: &Service) -> bool {
        match service.down {
            Some(Down::Refuse) => return true,
            Some(Down::Hang | Down::Hold) => return false,
            None => {}
        }
        let instant = service.works_at_once() && service.workers != Some(0);
        if refuses_when_dead(service) || turns_away_at_once(service) || script_fails_at_once(service, instant) {
            return true;
        }
        let holds_workers = !instant || !self.model.services[self.service.at()].calls.is_empty();
        let rejects = service.places().is_some() && service.queue_limit.is_some() && holds_workers && service.reject_time.is_zero();
        rejects || instant && (service.error_rate >= 1.0 || self.direct_calls().any(|call| call.fails_at_once()))
    }
}

/// Whether its process may die, and refuse what comes until it is up again.
fn refuses_when_dead(service: &Service) -> bool {
    service.crash.is_some_and(|crash| crash.down == Down::Refuse)
}

/// Whether attempts can be turned away without end at one instant, whatever the queue: that costs nothing, and another attempt fares no better.
fn turns_away_at_once(service: &Service) -> bool {
    service.reject_time.is_zero() && (service.rate_limit.is_some() || service.shed == Shed::Doomed)
}

/// Whether the last word of a script is a failure that takes no time.
fn script_fails_at_once(service: &Service, instant: bool) -> bool {
    let costs = |outcome: &Outcome| matches!(outcome, Outcome::Rejected | Outcome::Throttled) && !service.reject_time.is_zero();
    match service.script.last() {
        Some(Answer::AtOnce(outcome, _)) => !costs(outcome),
        other => other.is_some_and(|answer| answer.fails_at_once(instant)),
    }
}

/// Whether the last word of a script ends every call.
fn ends_calls(service: &Service) -> bool {
    matches!(service.script.last(), Some(Answer::AtOnce(Outcome::Permanent, _)))
}

fn views<'a>(model: &'a Model, caller: CallerIndex) -> impl Iterator<Item = (&'a Caller, View<'a>)> {
    let service = model.callers[caller.at()].to;
    model.all_epochs().map(move |epoch| (&epoch.callers[caller.at()], View { model, epoch, service }))
}

/// Whether a client of a closed load could make calls without end at one instant.
fn spins(model: &Model, group: &Group) -> bool {
    let Load::Closed { think } = &group.load else {
        return false;
    };
    think.is_zero()
        && views(model, group.caller).any(|(caller, view)| {
            // An open breaker denies at once what never touches the link, and so do some budgets.
            caller.policy.breaker.is_some()
                || caller.policy.pool.is_some_and(|pool| pool.wait.is_some())
                || caller.policy.budget.as_ref().is_some_and(Budget::denies_first)
                || is_direct(caller) && (view.succeeds_at_once() || view.fails_at_once() && gives_up_at_once(&caller.policy))
        })
}

fn gives_up_at_once(policy: &Policy) -> bool {
    policy.attempts == Some(1) || policy.can_retry_at_once() || policy.budget.is_some() || policy.retry_on != OutcomeSet::transient()
}

/// A caller whose breaker could put the same attempt off for ever: what is wrong, and what to write.
fn asks_for_ever(model: &Model, index: usize) -> Option<(&'static str, &'static str)> {
    views(model, CallerIndex(index as u16)).find_map(|(Caller { policy, .. }, _)| {
        let rejection = policy.breaker.as_ref()?.rejection;
        let endless = match rejection {
            Rejection::EndsCall => false,
            Rejection::UsesAttempt => policy.never_gives_up() && policy.retry_on.contains(Outcome::Rejected),
            Rejection::Waits => true,
        };
        // A budget ends what uses up attempts at one instant: each of them is a retry that it pays.
        let paid = rejection == Rejection::UsesAttempt && policy.budget.as_ref().is_some_and(Budget::ends_an_instant);
        if endless && !paid && policy.can_retry_at_once() {
            return Some((
                "asks an open breaker again at once, for ever: time would stand still",
                "give a backoff, such as { fixed = { delay = \"100ms\" } }",
            ));
        }
        let unanswered = model.horizon.is_none() && policy.timeout.is_none() && policy.deadline.is_none();
        (endless && unanswered).then_some((
            "asks a breaker for ever, while a probe without a timeout may never be answered: the run might never end",
            "give the policy a timeout or a deadline, or [run] a horizon",
        ))
    })
}

/// A caller that could ask a full pool for ever: what is wrong, and what to write.
fn asks_pool_for_ever(model: &Model, index: usize) -> Option<(&'static str, &'static str)> {
    views(model, CallerIndex(index as u16)).find_map(|(Caller { policy, .. }, _)| {
        let pool = policy.pool?;
        if policy.attempts.is_some() || !policy.retry_on.contains(Outcome::Rejected) {
            return None;
        }
        let paid = policy.budget.as_ref().is_some_and(Budget::ends_an_instant);
        if pool.wait.is_some() && policy.backoff.is_zero() && !paid {
            return Some((
                "asks a full pool again at once, for ever: time would stand still",
                "give a backoff, such as { fixed = { delay = \"100ms\" } }, or let the attempts wait: wait = \"unlimited\"",
            ));
        }
        let unanswered = model.horizon.is_none() && policy.timeout.is_none() && policy.deadline.is_none();
        let denies = pool.wait.is_some() || pool.timeout.is_some();
        (denies && unanswered).then_some((
            "asks its pool for ever, while attempts without a timeout may never give their places back: the run might never end",
            "give the policy a timeout or a deadline, or [run] a horizon",
        ))
    })
}

/// Whether a caller could make attempts without end at one instant. Most budgets end them: what they hold at an instant is finite.
fn stands_still(model: &Model, index: usize) -> bool {
    views(model, CallerIndex(index as u16)).any(|(caller, view)| {
        let policy = &caller.policy;
        let hint = policy.retry_after.can_leave_no_wait() && view.service().retry_after.as_ref().is_some_and(Hint::is_zero);
        let at_once = policy.can_retry_at_once() && waits_for_no_hint(policy, view.service()) || hint;
        policy.never_gives_up()
            && !policy.budget.as_ref().is_some_and(Budget::ends_an_instant)
            && at_once
            && is_direct(caller)
            && view.fails_at_once()
            && !ends_calls(view.service())
    })
}

/// Whether the server's hint, where there is one, leaves a wait of zero. Refusals carry no hint.
fn waits_for_no_hint(policy: &Policy, service: &Service) -> bool {
    let heeds = policy.retry_after != RetryAfter::Ignore && service.retry_after.as_ref().is_some_and(|hint| hint_is_sure(hint, service));
    !heeds || service.down == Some(Down::Refuse) || refuses_when_dead(service)
}

/// Whether every attempt that is turned away at once is told to wait.
fn hint_is_sure(hint: &Hint, service: &Service) -> bool {
    let of_script = |answer: &Answer| match answer {
        Answer::AtOnce(Outcome::Rejected | Outcome::Throttled, own) => own.as_ref().is_none_or(|own| !own.is_zero()),
        other => !other.fails_at_once(service.works_at_once()),
    };
    // The hint of a window is for what the limit turns away; a full queue gives none.
    let fits = *hint != Hint::Window || service.queue_limit.is_none() && service.shed == Shed::None && service.script.is_empty();
    !hint.is_zero() && fits && service.script.last().is_none_or(of_script)
}

/// Without a horizon, a caller that never gives up must not be left with a service that never answers well.
fn never_ends(context: &mut Context, model: &Model, places: &Places, group: &Group) {
    let Some(last) = model.epochs.last() else { return };
    let mut edges = vec![group.caller];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(caller) = edges.pop() {
        if !seen.insert(caller) {
            continue;
        }
        let to = model.callers[caller.at()].to;
        edges.extend(&model.services[to.at()].calls);
        let policy = &last.callers[caller.at()].policy;
        let is_limited = policy.deadline.is_some() || policy.max_elapsed.is_some() || policy.budget.as_ref().is_some_and(Budget::runs_dry);
        let endless = policy.never_gives_up() && !is_limited;
        if let Some((name, why)) = endless.then(|| hopeless(model, last, caller)).flatten() {
            let edge = &model.callers[caller.at()].name;
            let message = format!("`{edge}` retries for ever, and in the end `{name}` {why}: the run can never end");
            context.problem(places.policies[caller.at()], message, "give [run] a horizon, or the policy a deadline or a limit of attempts");
        }
    }
}

/// Whether no attempt along an edge can be answered before its timeout.
fn too_slow(epoch: &Epoch, caller: CallerIndex, service: &Service) -> bool {
    let Caller { policy, link } = &epoch.callers[caller.at()];
    let least = link.ways() * link.delay.least().seconds() + service.time.least().seconds() / service.speed;
    let mean = if service.shed == Shed::Doomed { service.time.mean() / service.speed } else { 0.0 };
    policy.timeout.is_some_and(|timeout| least.max(mean) > timeout.seconds())
}

/// The service on the way from an edge on that never succeeds in this epoch, and why.
fn hopeless<'a>(model: &'a Model, epoch: &Epoch, caller: CallerIndex) -> Option<(&'a str, &'static str)> {
    let (mut edges, mut seen) = (vec![caller], std::collections::BTreeSet::new());
    while let Some(caller) = edges.pop() {
        if !seen.insert(caller) {
            continue;
        }
        let to = model.callers[caller.at()].to;
        // One replica that answers well is hope enough.
        let mut stations = model.stations(to).map(|place| &epoch.services[place]);
        let first = stations.next().and_then(|service| why(epoch, caller, service));
        if let Some(reason) = first.filter(|_| stations.all(|service| why(epoch, caller, service).is_some())) {
            return Some((&model.services[to.at()].name, reason));
        }
        edges.extend(&model.services[to.at()].calls);
    }
    None
}

/// Why a service, or a replica, never succeeds in this epoch.
fn why(epoch: &Epoch, caller: CallerIndex, service: &Service) -> Option<&'static str> {
    match service {
        _ if epoch.callers[caller.at()].link.loss >= 1.0 => Some("is behind a link that loses everything"),
        Service { down: Some(_), .. } => Some("is down"),
        Service { workers: Some(0), .. } => Some("has no workers"),
        Service { error_rate, .. } if *error_rate >= 1.0 => Some("answers every attempt with an error"),
        Service { script, .. }
            if !ends_calls(service) && script.last().is_some_and(|answer| !matches!(answer, Answer::Work(Outcome::Ok, _))) =>
        {
            Some("answers nothing well by its script")
        }
        Service { speed, time, .. } if *speed == 0.0 && !time.is_zero() => Some("stands still"),
        _ if too_slow(epoch, caller, service) => Some("always takes longer than the timeout"),
        _ => None,
    }
}
