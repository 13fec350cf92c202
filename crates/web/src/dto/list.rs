//! Notification lists, in and out.

use super::names::TypeName;
use crate::fields::{Fields, kind};
use domain::{Channel, FieldError, Recipient};
use serde::Serialize;
use serde_json::Value;
use store::directory::List;
use utoipa::ToSchema;

/// A list and who is on it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ListView {
    pub name: String,
    pub recipients: Vec<EntryView>,
}

/// One entry of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct EntryView {
    pub name: Option<String>,
    pub address: String,
    /// Only notifications of this type go to this entry.
    #[schema(value_type = TypeName)]
    pub r#type: Channel,
    pub enabled: bool,
}

/// A list to be made or replaced whole.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ListRequest {
    #[schema(max_length = 200)]
    pub name: String,
    pub recipients: Option<Vec<EntryRequest>>,
}

/// An entry to be made or replaced.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct EntryRequest {
    pub name: Option<String>,
    #[schema(max_length = 512)]
    pub address: String,
    /// `Email` if left out.
    pub r#type: Option<TypeName>,
    /// True if left out.
    pub enabled: Option<bool>,
}

/// Reads a list. With `named` (from the path) the body's name may be left out and must not differ.
pub fn read_list(mut fields: Fields, named: Option<&str>) -> Result<List, Vec<FieldError>> {
    let given = fields.text("name");
    let name = match named {
        None => fields.require("name", given),
        Some(path) => {
            if given.as_deref().is_some_and(|name| name != path) {
                fields.problem("name", "must be the name in the path; lists are not renamed");
            }
            Some(path.to_owned())
        }
    };
    let mut recipients = vec![];
    for (i, item) in fields
        .array("recipients")
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        let place = format!("recipients[{i}]");
        match item {
            Value::Object(map) => {
                let mut entry = Fields::nested(map, format!("{place}."));
                recipients.push(entry_of(&mut entry, None));
                fields.add_all(entry.finish());
            }
            other => fields.problem(&place, format!("must be an object, not {}", kind(&other))),
        }
    }
    let problems = fields.finish();
    if problems.is_empty() {
        Ok(List {
            name: name.unwrap_or_default(),
            recipients,
        })
    } else {
        Err(problems)
    }
}

/// Reads one entry. With `at` (from the path) the body's address may be left out.
pub fn read_entry(mut fields: Fields, at: Option<&str>) -> Result<Recipient, Vec<FieldError>> {
    let entry = entry_of(&mut fields, at);
    let problems = fields.finish();
    if problems.is_empty() {
        Ok(entry)
    } else {
        Err(problems)
    }
}

fn entry_of(fields: &mut Fields, at: Option<&str>) -> Recipient {
    let address = fields.text("address").or_else(|| at.map(str::to_owned));
    Recipient {
        address: fields.require("address", address).unwrap_or_default(),
        name: fields.text("name"),
        channel: fields.parsed("type"),
        enabled: fields.boolean("enabled").unwrap_or(true),
    }
}

impl From<Recipient> for EntryView {
    fn from(entry: Recipient) -> Self {
        let Recipient {
            name,
            address,
            channel,
            enabled,
        } = entry;
        Self {
            name,
            address,
            r#type: channel.unwrap_or(Channel::Email),
            enabled,
        }
    }
}

impl From<List> for ListView {
    fn from(list: List) -> Self {
        Self {
            name: list.name,
            recipients: list.recipients.into_iter().map(EntryView::from).collect(),
        }
    }
}
