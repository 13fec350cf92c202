//! The column `extra`: fields that few notifications have, and that nothing is looked for by, as one JSON object.

use domain::{Content, EventOrigin, NotificationId, Submission, TraceContext, trace};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Extra<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    body_html: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend_of: Option<NotificationId>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "trace::readable")]
    pub trace: Option<TraceContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<Cow<'a, EventOrigin>>,
}

impl<'a> Extra<'a> {
    fn of(submission: &'a Submission) -> Self {
        let text = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        let content = &submission.content;
        Self {
            body_html: text(&content.body_html),
            rule_name: text(&content.rule_name),
            rule_id: text(&content.rule_id),
            run_id: text(&content.run_id),
            resend_of: submission.resend_of,
            trace: submission.trace,
            event: content.event.as_deref().map(Cow::Borrowed),
        }
    }

    /// The column's text; none where there is nothing to say.
    pub fn text_of(submission: &Submission) -> Option<String> {
        let extra = Extra::of(submission);
        // Text fields only: always representable as JSON.
        (extra != Extra::default()).then(|| serde_json::to_string(&extra).unwrap_or_default())
    }

    /// Whether one of the texts has a NUL, which JSON hides and no text column holds.
    pub fn has_nul(submission: &Submission) -> bool {
        let extra = Extra::of(submission);
        let texts = [extra.body_html, extra.rule_name, extra.rule_id, extra.run_id];
        let has_nul = |text: &str| text.contains('\0');
        texts.iter().flatten().any(|text| has_nul(text))
            || extra.event.is_some_and(|event| {
                let short = [&event.topic, &event.correlation_id, &event.template_name];
                has_nul(&event.event_type) || short.into_iter().flatten().any(|text| has_nul(text))
            })
    }

    /// Puts what belongs to the content there.
    pub fn fill(&mut self, content: &mut Content) {
        let text = |text: &mut Option<Cow<'_, str>>| text.take().map(Cow::into_owned);
        content.body_html = text(&mut self.body_html);
        content.rule_name = text(&mut self.rule_name);
        content.rule_id = text(&mut self.rule_id);
        content.run_id = text(&mut self.run_id);
        content.event = self.event.take().map(|event| Box::new(event.into_owned()));
    }
}
