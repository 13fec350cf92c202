//! Which of a service's own codes say that a recipient does not want to be written to any more, and the entry that follows.
//!
//! Leaves to others: which codes those are (each kind in `delivery`), storing it and what somebody has taken off since (`store`).

use crate::{
    Channel, EventOrigin,
    suppression::{NewSuppression, SuppressionSource},
};

/// One such code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptOut {
    pub code: &'static str,
    pub of: OptOutOf,
}

/// What the recipient does not want any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptOutOf {
    /// Anything from us over this channel.
    Everything,
    /// What is about the same, where the message says what it is about; else anything.
    SuchMessages,
    /// What is about the same, and nothing where the message does not say what it is about: other messages reach them.
    Topic,
}

impl OptOut {
    pub const fn everything(code: &'static str) -> Self {
        Self {
            code,
            of: OptOutOf::Everything,
        }
    }

    pub const fn such_messages(code: &'static str) -> Self {
        Self {
            code,
            of: OptOutOf::SuchMessages,
        }
    }

    pub const fn topic(code: &'static str) -> Self {
        Self {
            code,
            of: OptOutOf::Topic,
        }
    }

    pub fn find(known: &[Self], code: Option<&str>) -> Option<Self> {
        let code = code?;
        known.iter().copied().find(|one| one.code == code)
    }

    /// The entry for a recipient whom a far end failed with this code, of a message over this channel that was caused by this
    /// event; none where the code says something else.
    pub fn entry(
        known: &[Self],
        code: Option<&str>,
        address: &str,
        channel: Option<Channel>,
        event: Option<&EventOrigin>,
    ) -> Option<NewSuppression> {
        let found = Self::find(known, code)?;
        let about = event.map(|event| event.about().to_owned());
        let entry = NewSuppression {
            address: address.to_owned(),
            channel,
            topic: match found.of {
                OptOutOf::Everything => None,
                OptOutOf::SuchMessages => about,
                OptOutOf::Topic => Some(about?),
            },
            reason: format!("opted out, as the provider says ({})", found.code),
            source: SuppressionSource::Receipt,
        };
        entry.problems().is_empty().then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventId;

    const KNOWN: &[OptOut] = &[
        OptOut::everything("17"),
        OptOut::such_messages("131050"),
        OptOut::topic("9"),
    ];

    fn sale(topic: Option<&str>) -> EventOrigin {
        EventOrigin {
            event_type: "sale.begun".into(),
            event_id: EventId::mint(),
            topic: topic.map(str::to_owned),
            correlation_id: None,
            template: "1".into(),
            template_name: None,
            template_version: 1,
            critical: false,
        }
    }

    fn topic(code: &str, event: Option<&EventOrigin>) -> Option<Option<String>> {
        OptOut::entry(KNOWN, Some(code), "+919876543210", Some(Channel::Sms), event).map(|entry| entry.topic)
    }

    #[test]
    fn who_wants_no_advertisements_is_kept_from_messages_like_this_one_and_from_no_other() {
        let begun = Some("sale.begun".to_owned());
        for (code, without, with) in [
            ("17", Some(None), Some(None)),
            ("131050", Some(None), Some(begun.clone())),
            ("9", None, Some(begun)),
            ("2", None, None),
        ] {
            assert_eq!(topic(code, None), without, "{code}");
            assert_eq!(topic(code, Some(&sale(None))), with, "{code}");
        }
    }

    #[test]
    fn a_blank_topic_is_none_so_that_the_entry_is_about_the_event_type() {
        for blank in ["", " "] {
            let found = topic("9", Some(&sale(Some(blank))));
            assert_eq!(found, Some(Some("sale.begun".to_owned())), "{blank:?}");
        }
        assert_eq!(topic("9", Some(&sale(Some("sales")))), Some(Some("sales".into())));
    }
}
