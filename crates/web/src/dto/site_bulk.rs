//! Which messages at a site, from a query string and from a bulk request's body.

use super::names::{CategoryName, Time};
use crate::{fields::Fields, query::Params};
use central::sites::ParkedFilter;
use domain::{FieldError, site::Category};
use serde::Serialize;
use utoipa::ToSchema;

/// The filter of `GET /api/sites/{id}/parked`.
pub fn from_query(params: &mut Params) -> ParkedFilter {
    ParkedFilter {
        category: params.parsed("category"),
        target: params.text("target"),
        error_code: params.text("errorCode"),
        instance: params.text("instance"),
        from: params.timestamp("from"),
        to: params.timestamp("to"),
        removed: params.boolean("removed").unwrap_or(false),
        until: None,
    }
}

/// What a bulk action at a site is to be done to.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct SiteBulkRequest {
    pub filter: SiteFilterRequest,
    /// Only count what matches; change nothing.
    pub dry_run: Option<bool>,
    /// From the answer to a dry run: what was parked after it is left alone. Without it, what is parked now is meant.
    pub until: Option<i64>,
}

/// Which messages at the site. An empty one means everything that is parked there.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct SiteFilterRequest {
    pub category: Option<CategoryName>,
    /// The list, system or connection.
    pub target: Option<String>,
    /// What the last error begins with, up to its colon.
    pub error_code: Option<String>,
    pub instance: Option<String>,
    /// Parked at or after this time.
    pub from: Option<Time>,
    /// Parked before this time.
    pub to: Option<Time>,
    /// Not parked ones, but those that wait for a target the site no longer has. Needs `target`; they can only be
    /// discarded.
    pub removed: Option<bool>,
}

/// How many messages at the site match.
#[derive(Debug, Serialize, ToSchema)]
pub struct SiteCountAnswer {
    pub total: u64,
    /// To be given with the action itself.
    pub until: i64,
}

/// A bulk request, read.
#[derive(Debug)]
pub struct SiteBulkAsked {
    pub filter: ParkedFilter,
    pub dry_run: bool,
}

impl SiteBulkAsked {
    pub fn read(mut fields: Fields) -> Result<Self, Vec<FieldError>> {
        let dry_run = fields.boolean("dryRun").unwrap_or(false);
        let until = fields.integer("until");
        let map = fields.object("filter");
        let map = fields.require("filter", map);
        let mut inner = Fields::nested(map.unwrap_or_default(), "filter.");
        let filter = ParkedFilter {
            category: inner.parsed::<Category>("category"),
            target: inner.text("target"),
            error_code: inner.text("errorCode"),
            instance: inner.text("instance"),
            from: inner.timestamp("from"),
            to: inner.timestamp("to"),
            removed: inner.boolean("removed").unwrap_or(false),
            until,
        };
        if filter.removed && filter.target.is_none() {
            inner.problem("target", "must name the system or connection that is gone");
        }
        fields.add_all(inner.finish());
        let problems = fields.finish();
        match problems.is_empty() {
            true => Ok(Self { filter, dry_run }),
            false => Err(problems),
        }
    }
}
