//! A notification in the buffer: its content, as the JSON that every version has written.

use domain::{Channel, Content, ProviderId, Target, Timestamp, TraceContext, trace};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct NotificationPayload {
    pub content: Content,
    /// The type in the script's own spelling (`email`), which counts when a resend is compared with what is there.
    pub type_as_written: Option<String>,
    /// The step of a trace that handed it in. Not part of the content.
    pub trace: Option<TraceContext>,
}

macro_rules! form {
    ([$($short_text:ident)*]) => {
        /// A notification as its row has it. The order of the fields is part of the hash that tells a resend from another
        /// message under the same id: new ones go to the end, and are left out while they are empty.
        #[derive(Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct NotificationForm<'a> {
            #[serde(default, skip_serializing_if = "Option::is_none")]
            list: Option<Cow<'a, str>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            recipients: Option<Cow<'a, [String]>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            r#type: Option<Cow<'a, str>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            provider: Option<Cow<'a, str>>,
            subject: Cow<'a, str>,
            body: Cow<'a, str>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            type_data: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "trace::readable")]
            trace: Option<TraceContext>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            body_html: Option<Cow<'a, str>>,
            $(
                #[serde(default, skip_serializing_if = "Option::is_none")]
                $short_text: Option<Cow<'a, str>>,
            )*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            send_at: Option<Timestamp>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            expires_at: Option<Timestamp>,
        }

        impl<'a> NotificationForm<'a> {
            fn of(payload: &'a NotificationPayload) -> Self {
                let content = &payload.content;
                fn text(text: &Option<String>) -> Option<Cow<'_, str>> {
                    text.as_deref().map(Cow::Borrowed)
                }
                let (list, recipients) = match &content.target {
                    Target::List(name) => (Some(name.into()), None),
                    Target::Recipients(to) => (None, Some(Cow::Borrowed(to.as_slice()))),
                    Target::Provider => (None, None),
                };
                let by_name = || content.channel.map(|channel| channel.as_str().into());
                let data = content.type_data.as_deref();
                Self {
                    list,
                    recipients,
                    r#type: text(&payload.type_as_written).or_else(by_name),
                    provider: content.provider.as_ref().map(|id| id.as_str().into()),
                    subject: content.subject.as_str().into(),
                    body: content.body.as_str().into(),
                    // Made from JSON where it came in.
                    type_data: data.and_then(|data| serde_json::from_str(data).ok()),
                    trace: payload.trace,
                    body_html: text(&content.body_html),
                    $($short_text: text(&content.$short_text),)*
                    send_at: content.send_at,
                    expires_at: content.expires_at,
                }
            }

            fn payload(self) -> NotificationPayload {
                let text = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
                let content = Content {
                    channel: self.r#type.as_deref().and_then(|name| name.parse().ok()),
                    provider: text(self.provider).map(ProviderId::new),
                    target: Target::of(text(self.list), self.recipients.map(Cow::into_owned)),
                    subject: self.subject.into_owned(),
                    body: self.body.into_owned(),
                    body_html: text(self.body_html),
                    type_data: self.type_data.map(|data| data.to_string()),
                    $($short_text: text(self.$short_text),)*
                    send_at: self.send_at,
                    expires_at: self.expires_at,
                    event: None,
                };
                NotificationPayload {
                    content,
                    type_as_written: text(self.r#type),
                    trace: self.trace,
                }
            }
        }
    };
}
domain::short_texts!(form);

impl Serialize for NotificationPayload {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        NotificationForm::of(self).serialize(to)
    }
}

impl<'de> Deserialize<'de> for NotificationPayload {
    /// A type that this version does not know leaves the content without one: see [`NotificationPayload::known`].
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        NotificationForm::deserialize(from).map(NotificationForm::payload)
    }
}

impl NotificationPayload {
    /// The content, unless its type is one that only another version knows.
    pub fn known(self) -> Result<Content, String> {
        match (self.content.channel, &self.type_as_written) {
            (None, Some(name)) => match name.parse::<Channel>() {
                Err(unknown) => Err(unknown.to_string()),
                Ok(_) => Ok(self.content),
            },
            _ => Ok(self.content),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{content_hash, read, text, with_trace};
    use store::buffer::Origin;

    #[test]
    fn a_place_in_a_trace_is_read_back_and_changes_nothing_else() {
        let sent = NotificationPayload {
            content: Content {
                subject: "Tank 4".into(),
                body: "{\"x\": 1}".into(),
                ..Content::default()
            },
            ..NotificationPayload::default()
        };
        let place = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            .parse()
            .unwrap();
        let kept = with_trace(text(&sent), place);
        let expected = NotificationPayload {
            trace: Some(place),
            ..sent
        };
        assert_eq!(read::<NotificationPayload>(&kept), Ok(expected));
        let spoiled = kept.replace("00-4bf9", "zz-4bf9");
        assert_eq!(read::<NotificationPayload>(&spoiled).unwrap().trace, None);
    }

    #[test]
    fn a_resend_of_what_an_older_version_took_in_has_the_same_bytes_and_the_same_hash() {
        let old =
            r#"{"list":"ops","type":"email","subject":"Tank 4","body":"Level 98 %","typeData":{"a":1}}"#;
        let payload: NotificationPayload = read(old).unwrap();
        assert_eq!(payload.content.channel, Some(Channel::Email));
        assert_eq!(text(&payload), old);
        let origin = Origin {
            instance: Some("line-1".into()),
            ..Origin::default()
        };
        assert_eq!(content_hash("ops", old, &origin), 3_207_096_350_776_667_242);
    }

    #[test]
    fn a_type_that_only_another_version_knows_is_told_by_its_name() {
        let pigeon = r#"{"list":"ops","type":"Pigeon","subject":"","body":"coo"}"#;
        let payload: NotificationPayload = read(pigeon).unwrap();
        assert_eq!(text(&payload), pigeon);
        assert!(payload.known().unwrap_err().contains("Pigeon"));
    }

    #[test]
    fn every_field_of_the_content_survives_the_buffer() {
        let said = |text: &str| Some(text.to_owned());
        let sent = NotificationPayload {
            content: Content {
                channel: Some(Channel::Sms),
                provider: Some(ProviderId::new("modem")),
                target: Target::Recipients(vec!["+491511234567".into()]),
                subject: "Tank 4".into(),
                body: "Level 98 %".into(),
                body_html: said("<p>Level 98 %</p>"),
                type_data: said(r#"{"a":1}"#),
                entity_type: said("tank"),
                entity_id: said("4"),
                rule_name: said("High level"),
                rule_id: said("r7"),
                run_id: said("run-1"),
                supersedes_key: said("tank-4:level"),
                send_at: Some(Timestamp::from_millis(1_767_225_700_000)),
                expires_at: Some(Timestamp::from_millis(1_767_225_800_000)),
                event: None,
            },
            type_as_written: Some("sms".into()),
            trace: None,
        };
        assert_eq!(read::<NotificationPayload>(&text(&sent)), Ok(sent));
    }
}
