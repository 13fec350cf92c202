//! Reads a provider as somebody wants it. What is left out is the kind's default, inside `retry` and `limits` too; what may be without a
//! limit is so where it is `null`.

use crate::fields::Fields;
use central::providers::{ProviderDraft, ProviderService};
use delivery::{KindInfo, Registry};
use domain::{FieldError, Limits, OnAmbiguous, RetryPolicy, TenantId, retry::Shape};
use store::directory::Provider;

/// The draft, or every field that is wrong: in itself, and for its kind.
pub fn read(
    fields: Fields,
    tenant: TenantId,
    current: Option<&Provider>,
    providers: &ProviderService,
) -> Result<ProviderDraft, Vec<FieldError>> {
    let (draft, mut problems) = read_fields(fields, current, providers.registry());
    if problems.is_empty() {
        // Central checks the rest when it stores it.
        return Ok(draft);
    }
    for found in providers.problems(tenant, draft, current) {
        if problems.iter().all(|told| told.field != found.field) {
            problems.push(found);
        }
    }
    Err(problems)
}

/// What was said, and every field that is wrong in itself.
fn read_fields(
    mut fields: Fields,
    current: Option<&Provider>,
    registry: &Registry,
) -> (ProviderDraft, Vec<FieldError>) {
    let id = fields.text("id");
    let kind = fields.text("kind");
    let kind = match current {
        None => fields.require("kind", kind),
        Some(current) => {
            let same = |id: &String| id == current.provider.id.as_str();
            if !id.as_ref().is_none_or(same) {
                fields.problem("id", "must be the id in the path; providers are not renamed");
            }
            // Shown by GET, so that what was read can be sent back; not for changing.
            fields.any("type");
            fields.any("hold");
            fields.any("receipts");
            fields.any("warnings");
            kind.or_else(|| Some(current.provider.kind.clone()))
        }
    };
    let info = kind
        .as_deref()
        .and_then(|kind| registry.get(kind))
        .map(|kind| kind.info());
    if let (Some(_), None) = (&kind, &info) {
        let known: Vec<_> = registry.iter().map(|kind| kind.info().kind).collect();
        fields.problem("kind", format!("must be one of {}", known.join(", ")));
    }
    let draft = ProviderDraft {
        id,
        name: name(&mut fields),
        kind: kind.unwrap_or_default(),
        enabled: fields.boolean("enabled"),
        order: fields.integer("order"),
        settings: fields.object("settings").unwrap_or_default(),
        retry: retry(&mut fields, info),
        limits: limits(&mut fields, info),
        on_ambiguous: on_ambiguous(&mut fields),
    };
    (draft, fields.finish())
}

fn name(fields: &mut Fields) -> Option<String> {
    let name = fields.text("name")?;
    if name.trim().is_empty() || name.chars().count() > 255 || name.contains(char::is_control) {
        fields.problem("name", "must have 1 to 255 printable characters");
    }
    Some(name)
}

fn retry(fields: &mut Fields, info: Option<&KindInfo>) -> Option<RetryPolicy> {
    let mut given = Fields::nested(fields.object("retry")?, "retry.");
    let base = info.map(|info| info.retry.clone()).unwrap_or_default();
    let shape = match given.text("shape").as_deref() {
        None => None,
        Some("fixed") => Some(Shape::Fixed),
        Some("exponential") => Some(Shape::Exponential),
        Some(_) => {
            given.problem("shape", "must be fixed or exponential");
            None
        }
    };
    // Changing the shape changes what the other defaults are about.
    let base = match shape {
        Some(Shape::Fixed) if base.shape != Shape::Fixed => RetryPolicy {
            max_attempts: base.max_attempts,
            ..RetryPolicy::fixed(base.interval)
        },
        Some(Shape::Exponential) if base.shape != Shape::Exponential => RetryPolicy {
            max_attempts: base.max_attempts,
            ..RetryPolicy::exponential()
        },
        _ => base,
    };
    let interval = given.duration("interval").unwrap_or(base.interval);
    let policy = RetryPolicy {
        shape: base.shape,
        interval,
        factor: given.number("factor").unwrap_or(base.factor),
        cap: given.duration("cap").unwrap_or(base.cap.max(interval)),
        jitter: given.number("jitter").unwrap_or(base.jitter),
        max_attempts: given.integer("maxAttempts").unwrap_or(base.max_attempts),
        max_age: given.or_null("maxAge", Fields::duration).unwrap_or(base.max_age),
        unknown_retries: given.integer("unknownRetries").unwrap_or(base.unknown_retries),
    };
    fields.add_all(given.finish());
    Some(policy)
}

fn limits(fields: &mut Fields, info: Option<&KindInfo>) -> Option<Limits> {
    let mut given = Fields::nested(fields.object("limits")?, "limits.");
    let base = info.map(|info| info.limits.clone()).unwrap_or_default();
    let limits = Limits {
        concurrency: given.integer("concurrency").unwrap_or(base.concurrency),
        per_second: given
            .or_null("perSecond", Fields::number)
            .unwrap_or(base.per_second),
    };
    fields.add_all(given.finish());
    Some(limits)
}

fn on_ambiguous(fields: &mut Fields) -> Option<OnAmbiguous> {
    match fields.text("onAmbiguous")?.as_str() {
        "resend" => Some(OnAmbiguous::Resend),
        "park" => Some(OnAmbiguous::Park),
        _ => {
            fields.problem("onAmbiguous", "must be resend or park");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn fields(value: Value) -> Fields {
        let Value::Object(map) = value else {
            panic!("not an object")
        };
        Fields::new(map)
    }

    #[test]
    fn what_retry_leaves_out_keeps_its_shape() {
        let mut given = fields(json!({"retry": {"shape": "fixed", "interval": "2h"}}));
        let policy = retry(&mut given, None).unwrap();
        assert_eq!(
            (policy.shape, policy.cap),
            (Shape::Fixed, Duration::from_secs(7200))
        );
        assert!(policy.problems(false).is_empty());
        assert!(given.finish().is_empty());
    }

    #[test]
    fn every_bad_field_of_a_provider_is_named() {
        let registry = Registry::default();
        let bad = json!({
            "kind": "pigeon", "enabled": "yes", "order": 1.5, "name": " ", "onAmbiguous": "maybe",
            "retry": {"shape": "square", "interval": "soon", "tries": 3}, "limits": {"concurrency": -1}, "x": 1,
        });
        let mut named: Vec<_> = read_fields(fields(bad), None, &registry)
            .1
            .into_iter()
            .map(|p| p.field)
            .collect();
        named.sort_unstable();
        let wanted = [
            "enabled",
            "kind",
            "limits.concurrency",
            "name",
            "onAmbiguous",
            "order",
            "retry.interval",
            "retry.shape",
            "retry.tries",
            "x",
        ];
        assert_eq!(named, wanted);
    }
}
