//! The audit log, newest first.

use super::{
    failure::Result,
    filter::Query,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{cut, took},
};
use crate::{
    api::{audit_export, lists::encode},
    fields::parse_timestamp,
    paging,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use domain::{AuditKind, AuditStatus, Timestamp, Zone};
use store::query::{AuditFilter, AuditRow, Page as Asking};

const LIMIT: u32 = 100;

#[derive(Debug, Default)]
struct Asked {
    kind: Option<AuditKind>,
    status: Option<AuditStatus>,
    actor: Option<String>,
    correlation: Option<String>,
    from: Option<String>,
    to: Option<String>,
    /// In which times are meant that name none.
    zone: Option<String>,
}

#[derive(Template)]
#[template(path = "audit/page.html")]
struct Page {
    frame: Frame,
    asked: Asked,
    rows: Vec<AuditRow>,
    older: Option<String>,
    paged: bool,
    query: String,
}
framed!(Page);

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = Asked::read(&mut params);
    let filter = asked.filter(&mut params, &signed.zone);
    let after = paging::cursor(&mut params);
    params.finish()?;
    let frame = Frame::new(&state, &signed, "Audit log", Nav::Audit).await?;
    let paged = after.is_some();
    let query = asked.query();
    let asking = Asking { limit: LIMIT, after };
    let found = state
        .central
        .store
        .audit(signed.caller.tenant, &filter, asking)
        .await?;
    let page = Page {
        older: found.next.map(|next| {
            let and = if query.is_empty() { "" } else { "&" };
            format!("/audit?{query}{and}cursor={}", paging::print_cursor(next))
        }),
        rows: found.rows,
        frame,
        asked,
        paged,
        query,
    };
    Ok(page.show(&state))
}

/// Everything that matches, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = Asked::read(&mut params);
    let filter = asked.filter(&mut params, &signed.zone);
    params.finish()?;
    Ok(audit_export::csv(state, signed.caller.tenant, filter).await?)
}

impl Asked {
    fn read(params: &mut Params) -> Self {
        Self {
            kind: params.parsed("kind"),
            status: params.parsed("status"),
            actor: params.text("actor"),
            correlation: params.text("correlation"),
            from: params.text("from"),
            to: params.text("to"),
            zone: params.text("zone"),
        }
    }

    /// What cannot be read is named in `params`, which refuses the request when it is finished.
    fn filter(&self, params: &mut Params, viewers: &Zone) -> AuditFilter {
        let zone = self.zone.as_deref().map(|name| Zone::named(name).ok_or(name));
        if let Some(Err(_)) = zone {
            params.problem("zone", "must be a time zone like Europe/Berlin");
        }
        let zone = zone.and_then(std::result::Result::ok);
        let zone = zone.as_ref().unwrap_or(viewers);
        let correlation = self.correlation.as_deref().map(|text| text.trim().parse());
        if let Some(Err(_)) = correlation {
            params.problem("correlation", "must be the id of a notification");
        }
        let mut moment = |name: &str, text: &Option<String>| -> Option<Timestamp> {
            let text = text.as_deref()?;
            let parsed = parse_timestamp(text).or_else(|| zone.read(text));
            if parsed.is_none() {
                params.problem(name, "must be a time like 2026-01-31T13:45");
            }
            parsed
        };
        AuditFilter {
            from: moment("from", &self.from),
            to: moment("to", &self.to),
            kind: self.kind,
            status: self.status,
            actor: self.actor.clone(),
            correlation: correlation.and_then(std::result::Result::ok),
        }
    }

    fn query(&self) -> String {
        let mut query = Query::default();
        query.add("kind", self.kind.map(AuditKind::as_str));
        query.add("status", self.status.map(AuditStatus::as_str));
        query.add("actor", self.actor.as_deref());
        query.add("correlation", self.correlation.as_deref());
        query.add("from", self.from.as_deref());
        query.add("to", self.to.as_deref());
        if self.from.is_some() || self.to.is_some() {
            query.add("zone", self.zone.as_deref());
        }
        query.0
    }

    fn is_kind(&self, kind: &AuditKind) -> bool {
        self.kind == Some(*kind)
    }

    fn is_status(&self, status: &AuditStatus) -> bool {
        self.status == Some(*status)
    }
}

fn duration(millis: &u32) -> String {
    took(u64::from(*millis))
}
