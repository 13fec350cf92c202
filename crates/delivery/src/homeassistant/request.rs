//! What Home Assistant is asked to do. Only services that notify can be named: a message must not be able to open a door.

use super::HomeAssistant;
use crate::kit::{ContentProblems, MessageData, Sending, Unit, fit};
use bytes::Bytes;
use domain::{Content, Failure, Scope};
use hyper::Request;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// No limit is documented; phones show less, and what is longer is nobody's notification.
const MAX_MESSAGE_CHARS: usize = 16_000;
const MAX_TITLE_CHARS: usize = 1_000;

/// A service that shows messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    pub domain: &'static str,
    pub name: String,
}

impl Service {
    /// `notify.phone`, `phone`, `persistent_notification.create`; none for any other domain.
    pub fn parse(text: &str) -> Option<Self> {
        let (domain, name) = match text.split_once('.') {
            None if text == "persistent_notification" => ("persistent_notification", "create"),
            None => ("notify", text),
            Some(("notify", name)) => ("notify", name),
            Some(("persistent_notification", "create")) => ("persistent_notification", "create"),
            Some(_) => return None,
        };
        is_object_id(name).then(|| Self {
            domain,
            name: name.to_owned(),
        })
    }
}

/// The part of a name behind the dot.
fn is_object_id(name: &str) -> bool {
    let sound = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    (1..=100).contains(&name.len()) && name.bytes().all(sound)
}

/// What a message may say besides its texts.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct HomeAssistantData {
    service: Option<String>,
    /// A notify entity: goes by `notify.send_message`.
    entity_id: Option<String>,
    target: Option<Value>,
    /// For the integration behind the service.
    data: Map<String, Value>,
}

impl MessageData for HomeAssistantData {
    fn problems(&self, _: &Content, bad: &mut ContentProblems) {
        if self
            .service
            .as_deref()
            .is_some_and(|named| Service::parse(named).is_none())
        {
            bad.data("service", "must be a service of notify, like notify.mobile_app_phone, or persistent_notification.create");
        }
        let entity = |id: &str| id.strip_prefix("notify.").is_some_and(is_object_id);
        if self.entity_id.as_deref().is_some_and(|id| !entity(id)) {
            bad.data("entityId", "must be a notify entity, like notify.kitchen");
        }
    }
}

pub(super) fn compose(home: &HomeAssistant, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let unfit = |why: &str| Failure::permanent(Scope::Message, "VALIDATION", why);
    let mut data: HomeAssistantData = sending.message.data()?;
    let mut service = match &data.service {
        None => home.service.clone(),
        Some(named) => Service::parse(named).ok_or_else(|| unfit("there is no such service to notify by"))?,
    };
    let content = &sending.message.content;
    let mut asked = json!({
        "message": fit(&content.body, MAX_MESSAGE_CHARS, Unit::Chars),
    });
    if !content.subject.is_empty() {
        asked["title"] = fit(&content.subject, MAX_TITLE_CHARS, Unit::Chars).into();
    }
    let id = sending.message.id.to_string();
    if let Some(entity) = data.entity_id {
        service = Service {
            domain: "notify",
            name: "send_message".into(),
        };
        asked["entity_id"] = entity.into();
    } else if service.domain == "persistent_notification" {
        // One with the same id takes the place of the earlier one.
        asked["notification_id"] = id.into();
    } else {
        if service.name.starts_with("mobile_app_") {
            // So does one with the same tag, on a phone.
            data.data.entry("tag").or_insert_with(|| id.into());
            if let Some(left) = sending.seconds_left() {
                data.data.entry("ttl").or_insert_with(|| left.into());
            }
        }
        if let Some(target) = data.target {
            asked["target"] = target;
        }
        if !data.data.is_empty() {
            asked["data"] = data.data.into();
        }
    }
    let endpoint = home
        .endpoint(&service)
        .ok_or_else(|| unfit("the service cannot be asked for"))?;
    endpoint.post_json(&asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_services_that_notify_can_be_named() {
        for (text, place) in [
            ("phone", Some(("notify", "phone"))),
            ("notify.mobile_app_phone", Some(("notify", "mobile_app_phone"))),
            (
                "persistent_notification.create",
                Some(("persistent_notification", "create")),
            ),
            (
                "persistent_notification",
                Some(("persistent_notification", "create")),
            ),
            ("persistent_notification.dismiss", None),
            ("lock.unlock", None),
            ("notify.../../lock/unlock", None),
            ("notify.a/b", None),
            ("Notify.phone", None),
            ("notify.", None),
            ("", None),
        ] {
            let parsed = Service::parse(text);
            assert_eq!(
                parsed.as_ref().map(|s| (s.domain, s.name.as_str())),
                place,
                "{text:?}"
            );
        }
    }
}
