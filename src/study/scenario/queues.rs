//! Reader of the queues between clients and services.

use super::node::Node;
use super::reader::{Context, Fields, Variant, choose, tagged, unit};
use super::scalars::{boolean, count, duration, some_duration, whole};
use crate::retry::receive::Sqs;

const WAYS: &[Variant] = &[unit("none"), tagged("sqs", r#"{ visibility_timeout = "30s" }"#)];

/// A queue from its choice.
pub fn via(context: &mut Context, node: &mut Node) -> Option<Option<Sqs>> {
    let (name, value) = choose(context, node, "a way to the service", WAYS)?;
    let Some(value) = value else { return Some(None) };
    let mut fields = Fields::open(context, value, format!("`{name}`"))?;
    let visibility_timeout = fields.or(context, "visibility_timeout", "30s", some_duration);
    let max_receives = fields.or(context, "max_receives", 10, count(1));
    let batch_size = fields.or(context, "batch_size", 10, whole(1, 10_000));
    let window = fields.or(context, "window", "0s", duration);
    let concurrency = fields.or(context, "concurrency", 1000, count(1));
    let place = fields.place_of("function_timeout");
    let shown = visibility_timeout.map_or_else(|| "30s".to_owned(), |timeout| timeout.to_string());
    let function_timeout = fields.or(context, "function_timeout", shown.as_str(), some_duration);
    let report_failures = fields.or(context, "report_failures", false, boolean);
    fields.finish(context);
    let (visibility_timeout, function_timeout) = (visibility_timeout?, function_timeout?);
    if function_timeout > visibility_timeout {
        let message = format!("the function may run for {function_timeout}, longer than its messages are hidden: {visibility_timeout}");
        return context.refuse(place, message, "write a visibility timeout of six times the function's timeout, as AWS advises");
    }
    Some(Some(Sqs {
        visibility_timeout,
        max_receives: max_receives?,
        batch_size: u32::try_from(batch_size?).ok()?,
        window: window?,
        concurrency: concurrency?,
        function_timeout,
        report_failures: report_failures?,
    }))
}
