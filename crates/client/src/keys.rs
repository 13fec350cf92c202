//! API keys and tenants.

use crate::{Client, Result, http::NONE};
use domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A key as it may be shown; its text only right after it was made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    pub id: i64,
    pub name: String,
    pub role: String,
    pub created_at: Timestamp,
    #[serde(default)]
    pub revoked_at: Option<Timestamp>,
    /// To the minute or so.
    #[serde(default)]
    pub last_used_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApiKey({} {:?} {})", self.id, self.name, self.role)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    pub id: i64,
    pub name: String,
    pub created_at: Timestamp,
}

/// A tenant that was just made, with its first key if one was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewTenant {
    #[serde(flatten)]
    pub tenant: Tenant,
    #[serde(default)]
    pub admin_key: Option<ApiKey>,
}

impl Client {
    pub async fn keys(&self) -> Result<Vec<ApiKey>> {
        self.all(&["api", "keys"]).await
    }

    /// Makes a key; the answer is the only time its text is told.
    pub async fn create_key(&self, name: &str, role: &str) -> Result<ApiKey> {
        self.post(&["api", "keys"], &json!({ "name": name, "role": role }))
            .await
    }

    pub async fn revoke_key(&self, id: i64) -> Result<()> {
        self.delete(&["api", "keys", &id.to_string()], NONE).await
    }

    pub async fn tenants(&self) -> Result<Vec<Tenant>> {
        self.all(&["api", "tenants"]).await
    }

    /// Ends a tenant. `Conflict`, with what hangs on it, while it has providers or anything waits or is parked.
    pub async fn delete_tenant(&self, name: &str) -> Result<()> {
        self.delete(&["api", "tenants", name], NONE).await
    }

    /// Makes a tenant, and its first admin key under this name.
    pub async fn create_tenant(&self, name: &str, admin_key: Option<&str>) -> Result<NewTenant> {
        self.post(
            &["api", "tenants"],
            &json!({ "name": name, "adminKey": admin_key }),
        )
        .await
    }
}
