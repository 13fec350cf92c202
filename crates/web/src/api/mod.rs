//! The handlers, one file per resource. Each is short: read, call central or the store, answer. Which route leads
//! to which, and who may, is in [`crate::routes`].

pub mod actions;
pub mod audit;
pub mod audit_export;
pub mod batch;
pub mod callbacks;
pub mod channels;
pub mod events;
pub mod export;
pub mod health;
pub mod jobs;
pub mod keys;
pub mod kpis;
pub mod lanes;
pub mod lists;
pub mod metrics;
pub mod notifications;
pub mod providers;
pub mod recipients;
pub mod replays;
pub mod schedules;
pub mod site_waiting;
pub mod sites;
pub mod stream;
pub mod submit;
pub mod suppressions;
pub mod template_previews;
pub mod templates;
pub mod tenants;
pub mod transcripts;
pub mod unsubscribe;
pub mod usage;
pub mod users;

use crate::problem::{Problem, Result};
use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use domain::NotificationId;

/// The notification id of the path. What is not a UUID names nothing.
#[derive(Debug, Clone, Copy)]
pub struct PathId(pub NotificationId);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let text = Path::<String>::from_request_parts(parts, state).await;
        let id = text.ok().and_then(|Path(text)| text.parse().ok());
        id.map(Self).ok_or_else(|| Problem::not_found("notification"))
    }
}

/// One piece of text in the path.
#[derive(Debug, Clone)]
pub struct PathText(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathText {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let text = Path::<String>::from_request_parts(parts, state).await;
        match text {
            Ok(Path(text)) if !text.contains('\0') => Ok(Self(text)),
            _ => Err(Problem::not_found("thing")),
        }
    }
}

/// Two pieces of text in the path.
#[derive(Debug, Clone)]
pub struct PathTexts(pub String, pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathTexts {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let texts = Path::<(String, String)>::from_request_parts(parts, state).await;
        match texts {
            Ok(Path((one, two))) if !one.contains('\0') && !two.contains('\0') => Ok(Self(one, two)),
            _ => Err(Problem::not_found("thing")),
        }
    }
}
