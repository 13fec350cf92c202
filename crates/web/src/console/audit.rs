//! The audit log, newest first.

use super::{
    failure::Result,
    filter::Query,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{cut, took},
};
use crate::{api::lists::encode, fields::parse_timestamp, paging, query::Params, state::Shared};
use askama::Template;
use axum::extract::State;
use domain::{AuditKind, AuditStatus, FieldError, Timestamp};
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
}

#[derive(Template)]
#[template(path = "audit/page.html")]
struct Page {
    frame: Frame,
    asked: Asked,
    bad: Vec<FieldError>,
    rows: Vec<AuditRow>,
    older: Option<String>,
    paged: bool,
    query: String,
}
framed!(Page);

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let mut bad = vec![];
    let asked = Asked::read(&mut params, &mut bad);
    let after = paging::cursor(&mut params);
    let frame = Frame::new(&state, &signed, "Audit log", Nav::Audit).await?;
    let paged = after.is_some();
    let query = asked.query();
    let found = match asked.filter(&mut bad) {
        Some(filter) => {
            let asking = Asking { limit: LIMIT, after };
            state
                .central
                .store
                .audit(signed.caller.tenant, &filter, asking)
                .await?
        }
        None => Default::default(),
    };
    let page = Page {
        older: found.next.map(|next| {
            let and = if query.is_empty() { "" } else { "&" };
            format!("/audit?{query}{and}cursor={}", paging::print_cursor(next))
        }),
        rows: found.rows,
        frame,
        asked,
        bad,
        paged,
        query,
    };
    Ok(page.show(&state))
}

impl Asked {
    fn read(params: &mut Params, bad: &mut Vec<FieldError>) -> Self {
        let mut named = |name: &str| params.text(name);
        let kind = named("kind").and_then(|text| match text.parse() {
            Ok(kind) => Some(kind),
            Err(why) => {
                bad.push(FieldError::new("kind", why));
                None
            }
        });
        let status = named("status").and_then(|text| match text.parse() {
            Ok(status) => Some(status),
            Err(why) => {
                bad.push(FieldError::new("status", why));
                None
            }
        });
        Self {
            kind,
            status,
            actor: named("actor"),
            correlation: named("correlation"),
            from: named("from"),
            to: named("to"),
        }
    }

    /// None when there can be no such row.
    fn filter(&self, bad: &mut Vec<FieldError>) -> Option<AuditFilter> {
        let correlation = match self.correlation.as_deref().map(|text| text.trim().parse()) {
            None => None,
            Some(Ok(id)) => Some(id),
            Some(Err(_)) => {
                bad.push(FieldError::new("Notification", "must be the id of one"));
                return None;
            }
        };
        let mut moment = |name: &str, text: &Option<String>| -> Option<Timestamp> {
            let text = text.as_deref()?;
            let parsed = parse_timestamp(text).or_else(|| parse_timestamp(&format!("{text}:00Z")));
            if parsed.is_none() {
                bad.push(FieldError::new(name, "must be a time like 2026-01-31T13:45"));
            }
            parsed
        };
        Some(AuditFilter {
            from: moment("From", &self.from),
            to: moment("To", &self.to),
            kind: self.kind,
            status: self.status,
            actor: self.actor.clone(),
            correlation,
        })
    }

    fn query(&self) -> String {
        let mut query = Query::default();
        query.add("kind", self.kind.map(AuditKind::as_str));
        query.add("status", self.status.map(AuditStatus::as_str));
        query.add("actor", self.actor.as_deref());
        query.add("correlation", self.correlation.as_deref());
        query.add("from", self.from.as_deref());
        query.add("to", self.to.as_deref());
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
