//! The fields of a provider's form: what is asked of every provider, and what its kind's settings add (`provider_setting`).

use super::{
    form::Form,
    provider_draft::{pairs, secret_choice},
    provider_policy::{limit_fields, retry_fields},
    provider_setting::{self, blank_rows},
};
use crate::dto::provider::ProviderView;
use delivery::KindInfo;
use domain::FieldError;
use store::directory::Provider;

/// How a field is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    Line,
    Number,
    Password,
    Choice,
    Tick,
    /// A row per name and value.
    Pairs,
    /// Several lines of text.
    Text,
}

/// A secret that is kept already, and what is to become of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keeping {
    /// What may be shown of it.
    pub shown: String,
    /// `keep`, `replace` or `clear`.
    pub choice: String,
}

impl Keeping {
    pub fn of(shown: Option<&str>) -> Self {
        Self {
            shown: shown.unwrap_or("•••").to_owned(),
            choice: "keep".into(),
        }
    }

    pub fn is(&self, choice: &str) -> bool {
        self.choice == choice
    }
}

/// The choice that has to be made elsewhere for a field to be of use.
#[derive(Debug, Clone)]
pub struct Needed {
    /// The field it is made in.
    pub field: String,
    pub label: String,
    pub is: &'static [&'static str],
}

impl Needed {
    pub fn words(&self) -> String {
        self.is.join(" ")
    }

    /// `Login is plain or login`
    pub fn in_words(&self) -> String {
        format!("{} is {}", self.label, self.is.join(" or "))
    }
}

/// One field of the form.
#[derive(Debug, Clone)]
pub struct FormField {
    /// As it is sent, and as problems name it.
    pub name: String,
    pub label: String,
    /// What programs call it.
    pub key: Option<&'static str>,
    pub help: String,
    pub drawn: Drawn,
    pub value: String,
    /// Of names and values.
    pub rows: Vec<(String, String)>,
    pub choices: Vec<&'static str>,
    pub required: bool,
    pub secret: bool,
    pub kept: Option<Keeping>,
    pub needed: Option<Needed>,
    pub error: Option<String>,
    pub placeholder: String,
}

impl FormField {
    pub fn new(name: &str, label: &str, help: &str, drawn: Drawn, value: String) -> Self {
        Self {
            name: name.into(),
            label: label.into(),
            key: None,
            help: help.into(),
            drawn,
            value,
            rows: vec![],
            choices: vec![],
            required: false,
            secret: false,
            kept: None,
            needed: None,
            error: None,
            placeholder: String::new(),
        }
    }

    pub fn choices(mut self, choices: &[&'static str]) -> Self {
        self.choices = choices.to_vec();
        self
    }

    pub fn is(&self, choice: &str) -> bool {
        self.value == choice
    }

    pub fn ticked(&self) -> bool {
        self.value == "true"
    }

    /// The field that says what becomes of a kept secret.
    pub fn choice_name(&self) -> String {
        secret_choice(&self.name)
    }

    /// Whether the browser may insist on a value.
    pub fn insists(&self) -> bool {
        self.required && self.kept.is_none()
    }

    /// The field's id on the page.
    pub fn id(&self) -> String {
        self.name.replace('.', "-")
    }

    /// What was sent, put back; secrets are not.
    fn refill(&mut self, form: &Form) {
        if let Some(kept) = &mut self.kept {
            let choice = form.get(&secret_choice(&self.name)).unwrap_or("keep");
            choice.clone_into(&mut kept.choice);
        }
        match self.drawn {
            _ if self.secret => {}
            Drawn::Pairs => self.rows = blank_rows(pairs(form, &self.name)),
            Drawn::Tick => self.value = form.ticked(&self.name).to_string(),
            _ => form
                .get(&self.name)
                .unwrap_or_default()
                .clone_into(&mut self.value),
        }
    }

    /// Whether a problem is about this field, and in which words.
    fn blamed(&self, problem: &FieldError) -> Option<String> {
        if problem.field == self.name {
            return Some(problem.problem.clone());
        }
        let inner = problem.field.strip_prefix(&self.name)?.strip_prefix('.')?;
        (self.drawn == Drawn::Pairs).then(|| format!("{inner}: {}", problem.problem))
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
        let described = info.settings.iter();
        Self {
            general: general_fields(view.as_ref()),
            settings: described
                .map(|setting| provider_setting::field(info, setting, settings))
                .collect(),
            retry: retry_fields(&retry),
            limits: limit_fields(&limits, ambiguous),
        }
    }

    /// What was sent, put back into the form; secrets are not.
    pub fn refill(&mut self, form: &Form) {
        for field in self.all() {
            field.refill(form);
        }
    }

    /// Puts each problem beside its field; answers with those that have none.
    pub fn blame(&mut self, problems: Vec<FieldError>) -> Vec<FieldError> {
        let mut rest = vec![];
        for problem in problems {
            let found = self
                .all()
                .find_map(|field| Some((field.blamed(&problem)?, field)));
            match found {
                Some((words, field)) => match &mut field.error {
                    Some(error) => *error = format!("{error}; {words}"),
                    none => *none = Some(words),
                },
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

    /// Whether something is wrong with what is folded away.
    pub fn bad_inside(&self) -> bool {
        let folded = self.retry.iter().chain(&self.limits);
        folded.into_iter().any(|field| field.error.is_some())
    }
}

fn general_fields(view: Option<&ProviderView>) -> Vec<FormField> {
    let mut general = vec![FormField {
        required: true,
        ..FormField::new(
            "name",
            "Name",
            "What people call it.",
            Drawn::Line,
            view.map(|v| v.name.clone()).unwrap_or_default(),
        )
    }];
    if view.is_none() {
        general.push(FormField::new(
            "id",
            "Id",
            "What programs call it. Left empty, it is made of the name. It never changes.",
            Drawn::Line,
            String::new(),
        ));
    }
    general.extend([
        FormField::new(
            "enabled",
            "Enabled",
            "Switched off, its notifications wait.",
            Drawn::Tick,
            view.is_none_or(|v| v.enabled).to_string(),
        ),
        FormField::new(
            "order",
            "Order",
            "What names no provider goes to the enabled one of its type with the lowest number.",
            Drawn::Number,
            view.map_or(0, |v| v.order).to_string(),
        ),
    ]);
    general
}
