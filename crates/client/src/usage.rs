//! What hangs on something, before it is removed.

use crate::{Client, Result, http::NONE};
use domain::Usage;

/// Something that can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removable<'a> {
    List(&'a str),
    Provider(&'a str),
    Template(i64),
    EventType(&'a str),
    Tenant(&'a str),
}

impl Client {
    /// What would miss it if it were gone, and when it was last used.
    pub async fn usage(&self, of: Removable<'_>) -> Result<Usage> {
        let id;
        let (kind, name) = match of {
            Removable::List(name) => ("lists", name),
            Removable::Provider(id) => ("providers", id),
            Removable::EventType(name) => ("event-types", name),
            Removable::Tenant(name) => ("tenants", name),
            Removable::Template(number) => {
                id = number.to_string();
                ("message-templates", id.as_str())
            }
        };
        self.get(&["api", kind, name, "usage"], NONE).await
    }
}
