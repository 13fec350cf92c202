//! API keys, in and out. The text of a key is in one answer only: the one that made it.

use super::names::{RoleName, Time};
use central::keys::Minted;
use domain::Timestamp;
use serde::Serialize;
use store::directory::{ApiKey, Role};
use utoipa::ToSchema;

/// A key as it is listed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    pub id: i64,
    pub name: String,
    #[schema(value_type = RoleName)]
    pub role: Role,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub revoked_at: Option<Timestamp>,
    /// To the minute or so.
    #[schema(value_type = Option<Time>)]
    pub last_used_at: Option<Timestamp>,
}

/// A key that was just made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewKeyView {
    #[serde(flatten)]
    pub view: KeyView,
    /// The key itself. It is shown this once and kept nowhere.
    pub key: String,
}

/// A key to be made.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct KeyRequest {
    /// Shown in the audit log as `key:NAME`.
    #[schema(max_length = 255)]
    pub name: String,
    /// Any but `ops`, which is made with the command line on the database itself.
    pub role: RoleName,
}

impl From<ApiKey> for KeyView {
    fn from(key: ApiKey) -> Self {
        Self {
            id: key.id,
            name: key.name,
            role: key.role,
            created_at: key.created_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
        }
    }
}

impl From<Minted> for NewKeyView {
    fn from(minted: Minted) -> Self {
        Self {
            view: minted.key.into(),
            key: minted.text,
        }
    }
}

impl std::fmt::Debug for NewKeyView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewKeyView")
            .field("view", &self.view)
            .finish_non_exhaustive()
    }
}
