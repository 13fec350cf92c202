//! The fields of a provider's form, made from what its kind says of its settings.

use super::{form::Form, provider_draft::removal};
use crate::dto::provider::ProviderView;
use delivery::{KindInfo, Setting, SettingType};
use domain::{
    FieldError, Limits, OnAmbiguous, RetryPolicy,
    retry::{Shape, human},
};
use serde_json::{Map, Value};
use store::directory::Provider;

/// How a field is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    Line,
    Number,
    Secret,
    /// A secret that is typed in sight, because nobody types an address blindly; what may be shown of the kept one is
    /// the placeholder.
    SecretUrl,
    Choice,
    Tick,
    /// A line per name and value.
    Pairs,
    /// Several lines of text.
    Text,
}

/// One field of the form.
#[derive(Debug, Clone)]
pub struct FormField {
    /// As it is sent, and as problems name it.
    pub name: String,
    pub label: String,
    pub help: String,
    pub drawn: Drawn,
    pub value: String,
    pub choices: Vec<&'static str>,
    pub required: bool,
    /// A secret that is kept already.
    pub kept: bool,
    /// A kept secret that was asked to be removed.
    pub removed: bool,
    pub error: Option<String>,
    pub placeholder: String,
}

impl FormField {
    fn new(name: &str, label: &str, help: &str, drawn: Drawn, value: String) -> Self {
        Self {
            name: name.into(),
            label: label.into(),
            help: help.into(),
            drawn,
            value,
            choices: vec![],
            required: false,
            kept: false,
            removed: false,
            error: None,
            placeholder: String::new(),
        }
    }

    fn choices(mut self, choices: &[&'static str]) -> Self {
        self.choices = choices.to_vec();
        self
    }

    pub fn is(&self, choice: &str) -> bool {
        self.value == choice
    }

    pub fn ticked(&self) -> bool {
        self.value == "true"
    }

    /// The field that asks for a kept secret to be removed.
    pub fn removal(&self) -> String {
        removal(&self.name)
    }

    /// The field's id on the page.
    pub fn id(&self) -> String {
        self.name.replace('.', "-")
    }
}

fn with_example(setting: &Setting) -> String {
    match setting.example {
        Some(example) => format!("{} Example: {example}", setting.help),
        None => setting.help.to_owned(),
    }
}

/// Everything the form asks, in groups.
#[derive(Debug, Default)]
pub struct Fieldsets {
    pub general: Vec<FormField>,
    pub settings: Vec<FormField>,
    pub retry: Vec<FormField>,
    pub limits: Vec<FormField>,
}

impl Fieldsets {
    /// As it stands, or the kind's defaults for a new one.
    pub fn of(info: &KindInfo, stored: Option<&Provider>) -> Self {
        let view = stored.map(|stored| ProviderView::from(stored.clone()));
        let settings = view.as_ref().map(|view| &view.settings);
        let (retry, limits, ambiguous) = match &view {
            Some(view) => (view.retry.clone(), view.limits.clone(), view.on_ambiguous),
            None => (info.retry.clone(), info.limits.clone(), info.on_ambiguous),
        };
        let mut general = vec![FormField {
            required: true,
            ..FormField::new(
                "name",
                "Name",
                "What people call it.",
                Drawn::Line,
                view.as_ref().map(|v| v.name.clone()).unwrap_or_default(),
            )
        }];
        if stored.is_none() {
            general.push(FormField::new(
                "id",
                "Id",
                "What programs call it. Left empty, it is made of the name. It never changes.",
                Drawn::Line,
                String::new(),
            ));
        }
        let enabled = view.as_ref().is_none_or(|v| v.enabled);
        general.extend([
            FormField::new(
                "enabled",
                "Enabled",
                "Switched off, its notifications wait.",
                Drawn::Tick,
                enabled.to_string(),
            ),
            FormField::new(
                "order",
                "Order",
                "The enabled provider of a type with the lowest takes what names none.",
                Drawn::Number,
                view.as_ref().map_or(0, |v| v.order).to_string(),
            ),
        ]);
        Self {
            general,
            settings: info.settings.iter().map(|s| setting(s, settings)).collect(),
            retry: retry_fields(&retry),
            limits: limit_fields(&limits, ambiguous),
        }
    }

    /// What was sent, put back into the form; secrets are not.
    pub fn refill(&mut self, form: &Form) {
        for field in self.all() {
            match field.drawn {
                Drawn::Secret | Drawn::SecretUrl => field.removed = form.ticked(&field.removal()),
                Drawn::Tick => field.value = form.ticked(&field.name).to_string(),
                _ => field.value = form.get(&field.name).unwrap_or_default().to_owned(),
            }
        }
    }

    /// Puts each problem beside its field; answers with those that have none.
    pub fn blame(&mut self, problems: Vec<FieldError>) -> Vec<FieldError> {
        let mut rest = vec![];
        for problem in problems {
            match self.all().find(|field| field.name == problem.field) {
                Some(field) => field.error = Some(problem.problem),
                None => rest.push(problem),
            }
        }
        rest
    }

    fn all(&mut self) -> impl Iterator<Item = &mut FormField> {
        let first = self.general.iter_mut().chain(self.settings.iter_mut());
        first.chain(self.retry.iter_mut()).chain(self.limits.iter_mut())
    }

    pub fn bad(&self) -> usize {
        let all = [&self.general, &self.settings, &self.retry, &self.limits];
        all.into_iter()
            .flatten()
            .filter(|field| field.error.is_some())
            .count()
    }
}

fn setting(setting: &Setting, stored: Option<&Map<String, Value>>) -> FormField {
    let found = stored.and_then(|settings| find(settings, setting.name));
    let drawn = match setting.kind {
        SettingType::Url if setting.secret => Drawn::SecretUrl,
        _ if setting.secret => Drawn::Secret,
        SettingType::Text if setting.name.ends_with("Pem") => Drawn::Text,
        SettingType::Text | SettingType::Url | SettingType::Duration => Drawn::Line,
        SettingType::Number => Drawn::Number,
        SettingType::Boolean => Drawn::Tick,
        SettingType::Choice(_) => Drawn::Choice,
        SettingType::Map => Drawn::Pairs,
    };
    let default = setting.default.as_ref().map(text).unwrap_or_default();
    let shown = match (&drawn, found) {
        (Drawn::Secret | Drawn::SecretUrl, _) => String::new(),
        (_, Some(value)) => text(value),
        // A choice shows its default as chosen, a line as what it would be.
        (Drawn::Choice | Drawn::Tick, None) => default.clone(),
        (_, None) => String::new(),
    };
    let choices = match setting.kind {
        SettingType::Choice(words) => words,
        _ => &[],
    };
    let kept = setting.secret && found.is_some();
    FormField {
        required: setting.required,
        kept,
        placeholder: match found.and_then(Value::as_str) {
            Some(shown) if kept && drawn == Drawn::SecretUrl => shown.to_owned(),
            _ => default,
        },
        ..FormField::new(
            &format!("settings.{}", setting.name),
            setting.name,
            &with_example(setting),
            drawn,
            shown,
        )
    }
    .choices(choices)
}

/// `oauth.tokenUrl` is `tokenUrl` inside `oauth`.
fn find<'a>(settings: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => settings.get(name),
        Some((outer, inner)) => find(settings.get(outer)?.as_object()?, inner),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) => {
            let lines: Vec<_> = map
                .iter()
                .map(|(name, value)| format!("{name}: {}", text(value)))
                .collect();
            lines.join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn retry_fields(retry: &RetryPolicy) -> Vec<FormField> {
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

fn limit_fields(limits: &Limits, ambiguous: OnAmbiguous) -> Vec<FormField> {
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
