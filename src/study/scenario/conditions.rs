//! Reader of conditions: `api.queue > 5000`, `success_rate < 90%`.

use super::diagnostics::did_you_mean;
use super::node::Node;
use super::reader::Context;
use super::scalars::text;
use crate::measure::identifier::ServiceIndex;
use crate::measure::rate::Rate;
use crate::measure::share;
use crate::world::condition::{Comparison, Condition, Signal};

const EXAMPLE: &str = "write a signal, `<`, `<=`, `>` or `>=`, and a number, such as \"api.queue > 5000\" or \"success_rate < 90%\"";

/// A signal that is looked at in one service.
type OfService = fn(ServiceIndex) -> Signal;

/// The signals of a service, after its name and a dot.
const OF_SERVICE: [(&str, OfService); 3] = [("queue", Signal::Queue), ("busy", Signal::Busy), ("utilisation", Signal::Utilisation)];

/// The signals of all clients together.
const OF_CLIENTS: [(&str, Signal); 3] =
    [("goodput", Signal::Goodput), ("attempts", Signal::Attempts), ("success_rate", Signal::SuccessRate)];

/// A condition from its text, in a model with these services.
pub fn condition(services: &[String]) -> impl Fn(&mut Context, &mut Node) -> Option<Condition> + '_ {
    move |context, node| {
        let (place, written) = (node.place, text(context, node)?);
        let Some((name, rest)) = written.find(['<', '>']).map(|sign| written.split_at(sign)) else {
            return context.refuse(place, format!("`{written}` compares nothing"), EXAMPLE);
        };
        let (comparison, limit) = comparison(rest);
        let (name, limit) = (name.trim(), limit.trim());
        let Some(signal) = signal(services, name) else {
            let of_services = services.iter().flat_map(|service| OF_SERVICE.iter().map(move |(key, _)| format!("{service}.{key}")));
            let known: Vec<String> = of_services.chain(OF_CLIENTS.iter().map(|(key, _)| (*key).to_string())).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return context.refuse(place, format!("there is no signal `{name}`"), did_you_mean(name, &known));
        };
        match number(signal, limit) {
            Ok(limit) => Some(Condition { signal, comparison, limit }),
            Err(help) => context.refuse(place, format!("`{limit}` is not what `{name}` can be compared with"), help),
        }
    }
}

/// The sign at the beginning, and what follows it.
fn comparison(rest: &str) -> (Comparison, &str) {
    let signs = [(">=", Comparison::AtLeast), ("<=", Comparison::AtMost), (">", Comparison::Above), ("<", Comparison::Below)];
    let found = signs.into_iter().find_map(|(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?)));
    found.unwrap_or((Comparison::Above, rest))
}

fn signal(services: &[String], name: &str) -> Option<Signal> {
    if let Some((_, signal)) = OF_CLIENTS.iter().find(|(key, _)| *key == name) {
        return Some(*signal);
    }
    let (service, key) = name.rsplit_once('.')?;
    let index = services.iter().position(|known| known == service)?;
    OF_SERVICE.iter().find(|(known, _)| *known == key).map(|(_, signal)| signal(ServiceIndex(index as u16)))
}

/// The limit in the unit of its signal: a share, a number a second, or a number of attempts or workers.
fn number(signal: Signal, written: &str) -> Result<f64, &'static str> {
    let (parsed, help) = match signal {
        Signal::Utilisation(_) | Signal::SuccessRate => (share::parse(written).ok(), "write a share, such as 0.9 or 90%"),
        Signal::Goodput | Signal::Attempts if written.contains('/') => {
            (Rate::parse(written).ok().map(|rate| rate.0), "write a rate, such as 700/s")
        }
        Signal::Goodput | Signal::Attempts => (None, "write a rate with its unit, such as 700/s"),
        Signal::Queue(_) | Signal::Busy(_) => (written.parse().ok(), "write a number from 0 on, such as 5000"),
    };
    parsed.filter(|number: &f64| number.is_finite() && *number >= 0.0).ok_or(help)
}
