//! What the form of a provider asks about retries and limits.

use super::provider_fields::{Drawn, FormField};
use domain::{
    Limits, OnAmbiguous, RetryPolicy,
    retry::{Shape, human},
};

pub fn retry_fields(retry: &RetryPolicy) -> Vec<FormField> {
    let shape = match retry.shape {
        Shape::Fixed => "fixed",
        Shape::Exponential => "exponential",
    };
    let line = |name, label, help, value: String| FormField::new(name, label, help, Drawn::Line, value);
    vec![
        FormField::new(
            "retry.shape",
            "Shape",
            "fixed: the same wait every time. exponential: longer every time.",
            Drawn::Choice,
            shape.into(),
        )
        .choices(&["fixed", "exponential"]),
        line(
            "retry.interval",
            "First wait",
            "Like 30s, 1m, 2h.",
            human(retry.interval),
        ),
        line(
            "retry.factor",
            "Factor",
            "What the wait is multiplied by, with exponential.",
            retry.factor.to_string(),
        ),
        line(
            "retry.cap",
            "Longest wait",
            "No wait of our own is longer.",
            human(retry.cap),
        ),
        line(
            "retry.jitter",
            "Jitter",
            "Up to this share of the wait is added at random.",
            retry.jitter.to_string(),
        ),
        FormField::new(
            "retry.maxAttempts",
            "Attempts",
            "In all; then it is parked.",
            Drawn::Number,
            retry.max_attempts.to_string(),
        ),
        line(
            "retry.maxAge",
            "Longest age",
            "Older than this it is parked rather than tried again. Empty: no limit.",
            retry.max_age.map(human).unwrap_or_default(),
        ),
        FormField::new(
            "retry.unknownRetries",
            "Retries of answers nobody has a rule for",
            "Then it is parked, whatever is left of the attempts.",
            Drawn::Number,
            retry.unknown_retries.to_string(),
        ),
    ]
}

pub fn limit_fields(limits: &Limits, ambiguous: OnAmbiguous) -> Vec<FormField> {
    let word = match ambiguous {
        OnAmbiguous::Resend => "resend",
        OnAmbiguous::Park => "park",
    };
    vec![
        FormField::new(
            "limits.concurrency",
            "At once",
            "Attempts under way at the same time.",
            Drawn::Number,
            limits.concurrency.to_string(),
        ),
        FormField::new(
            "limits.perSecond",
            "Per second",
            "Over all nodes. Empty: no limit.",
            Drawn::Line,
            limits.per_second.map(|n| n.to_string()).unwrap_or_default(),
        ),
        FormField::new(
            "onAmbiguous",
            "When nobody knows whether it went out",
            "resend: a duplicate is better than a loss. park: a person decides, because a duplicate costs money.",
            Drawn::Choice,
            word.into(),
        )
        .choices(&["resend", "park"]),
    ]
}
