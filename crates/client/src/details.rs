//! What a notification may say besides its subject and its text: the same fields and the same words, whether central or a
//! site's agent is told.

use domain::Timestamp;
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The steps that say them, for a type that has `details`.
macro_rules! detail_steps {
    () => {
        pub fn body_html(mut self, html: impl Into<String>) -> Self {
            self.details.body_html = Some(html.into());
            self
        }

        /// Takes the place of those that still wait at central under the same key.
        pub fn supersedes(mut self, key: impl Into<String>) -> Self {
            self.details.supersedes_key = Some(key.into());
            self
        }

        /// What it is about, to find it again: `("booking", "4711")`.
        pub fn about(mut self, entity_type: impl Into<String>, entity_id: impl Into<String>) -> Self {
            self.details.entity_type = Some(entity_type.into());
            self.details.entity_id = Some(entity_id.into());
            self
        }

        /// The rule that asks for it.
        pub fn rule(mut self, name: impl Into<String>) -> Self {
            self.details.rule_name = Some(name.into());
            self
        }

        /// That rule's id, which stays when it is renamed.
        pub fn rule_id(mut self, id: impl Into<String>) -> Self {
            self.details.rule_id = Some(id.into());
            self
        }

        /// The run of the rule. At central, without an id and a key, the same notification of the same run is sent once.
        pub fn run(mut self, id: impl Into<String>) -> Self {
            self.details.run_id = Some(id.into());
            self
        }

        /// Not before.
        pub fn send_at(mut self, at: Timestamp) -> Self {
            self.details.send_at = Some(at);
            self
        }

        /// Not after: what has not gone out by then is parked.
        pub fn expires_at(mut self, at: Timestamp) -> Self {
            self.details.expires_at = Some(at);
            self
        }
    };
}
pub(crate) use detail_steps;

#[cfg(test)]
mod tests {
    use crate::{Notification, site::Notify};
    use domain::Timestamp;
    use serde_json::{Value, json};

    #[test]
    fn central_and_a_site_are_told_the_same_under_the_same_names() {
        let at = Timestamp::from_millis(1_767_225_600_000);
        macro_rules! said {
            ($start:expr) => {
                $start
                    .body_html("<p>98 %</p>")
                    .supersedes("tank-4:level")
                    .about("tank", "4")
                    .rule("High level")
                    .rule_id("r7")
                    .run("run-1")
                    .send_at(at)
                    .expires_at(at)
            };
        }
        let mut central = json!(said!(Notification::to_list("ops").type_data(json!({"a": 1}))));
        let mut site = json!(said!(Notify::to("ops").data(json!({"a": 1}))));
        for told in [&mut central, &mut site] {
            let told = told.as_object_mut().unwrap();
            told.retain(|name, _| !["listName", "to", "subject", "body"].contains(&name.as_str()));
        }
        assert_eq!(central, site);
        let names: Vec<&String> = central
            .as_object()
            .into_iter()
            .flat_map(|told| told.keys())
            .collect();
        assert_eq!(names.len(), 10, "{names:?}");
        assert_eq!(central["ruleName"], Value::from("High level"));
    }
}
