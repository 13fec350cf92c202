//! What tells one form that was sent twice from two forms.
//!
//! A page that lets somebody send things puts one of these into its form. A double click, the way back and yes again, or a
//! browser that sends the form once more says the same one, and so asks for nothing new.

use domain::{NotificationId, TenantId, id::job_of_request};
use std::fmt;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestId(Uuid);

impl RequestId {
    pub fn mint() -> Self {
        Self(Uuid::now_v7())
    }

    /// What a form said; a form that says none is a request of its own.
    pub fn read(text: Option<&str>) -> Self {
        text.and_then(|text| text.parse().ok())
            .map_or_else(Self::mint, Self)
    }

    /// The key of the repeat of one notification.
    pub fn repeat_of(self, id: NotificationId) -> String {
        format!("manual:{id}:{}", self.0)
    }

    /// The id of the bulk action: the same action over the same rows is the same one.
    pub fn job(self, tenant: TenantId, action: &str, query: &str) -> Uuid {
        job_of_request(tenant, &format!("{}:{action}:{query}", self.0))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
