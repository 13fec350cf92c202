//! Tenants, in and out.

use super::{key::NewKeyView, names::Time};
use domain::Timestamp;
use serde::Serialize;
use store::directory::Tenant;
use utoipa::ToSchema;

/// A tenant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TenantView {
    pub id: i32,
    pub name: String,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
}

/// A tenant that was just made, and its first key if one was asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewTenantView {
    #[serde(flatten)]
    pub view: TenantView,
    pub admin_key: Option<NewKeyView>,
}

/// A tenant to be made.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct TenantRequest {
    /// 1 to 64 of letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Also make an admin key of this name; the answer shows it once.
    pub admin_key: Option<String>,
}

impl From<Tenant> for TenantView {
    fn from(tenant: Tenant) -> Self {
        Self {
            id: tenant.id.0,
            name: tenant.name,
            created_at: tenant.created_at,
        }
    }
}
