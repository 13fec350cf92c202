//! What is in force and where it came from: `waypost config show`.

use super::{Key, Loaded, keys};
use figment::value::Value;
use serde::Serialize;

/// One key as it stands.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    pub key: &'static str,
    /// Masked where it must be; none when the key is not set.
    pub value: Option<String>,
    /// `default`, the file's name or the variable's.
    pub origin: Option<String>,
}

impl Loaded {
    /// Every key, in the order of the sections.
    pub fn shown(&self) -> Vec<Shown> {
        keys().iter().map(|key| self.one(key)).collect()
    }

    fn one(&self, key: &Key) -> Shown {
        let found = self
            .layers
            .iter()
            .rev()
            .find_map(|layer| Some((layer, layer.find(key.name)?)));
        let Some((layer, value)) = found else {
            return Shown {
                key: key.name,
                value: None,
                origin: None,
            };
        };
        Shown {
            key: key.name,
            value: Some(key.mask(&text(value))),
            origin: Some(layer.origin(key.name)),
        }
    }
}

/// A value as a person would write it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(_, text) => text.clone(),
        Value::Char(_, c) => c.to_string(),
        Value::Bool(_, b) => b.to_string(),
        Value::Array(_, items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", ")),
        Value::Num(_, n) => match (n.to_u128(), n.to_i128()) {
            (Some(n), _) => n.to_string(),
            (None, Some(n)) => n.to_string(),
            (None, None) => n.to_f64().map_or_else(String::new, |n| n.to_string()),
        },
        // Of a table, its name; the rest may be secret.
        Value::Dict(_, table) => table.get("name").map(text).unwrap_or_default(),
        Value::Empty(..) => String::new(),
    }
}
