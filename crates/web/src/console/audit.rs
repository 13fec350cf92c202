//! The audit log, newest first.

use super::{
    failure::Result,
    filter::{Query, RANGES, Times},
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    show::{cut, took},
};
use crate::{
    api::{audit_export, lists::encode},
    paging,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use domain::{AuditKind, AuditStatus, Timestamp, Zone};
use store::query::{AuditFilter, AuditRow, Page as PageRequest};

const LIMIT: u32 = 100;
/// Characters of what a row tells before it is unfolded.
const SHOWN_CHARS: usize = 300;

#[derive(Debug, Clone, Default)]
struct AuditQuery {
    kind: Option<AuditKind>,
    status: Option<AuditStatus>,
    actor: Option<String>,
    /// Only what failed and is tried again.
    retried: bool,
    correlation: Option<String>,
    times: Times,
}

#[derive(Template)]
#[template(path = "audit/page.html")]
struct Page {
    frame: Frame,
    asked: AuditQuery,
    rows: Vec<AuditRow>,
    older: Option<String>,
    paged: bool,
    query: String,
}
framed!(Page);

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let asked = AuditQuery::read(&mut params, &signed.zone);
    let filter = asked.filter(&mut params, state.central.clock.now());
    let after = paging::cursor(&mut params);
    params.finish()?;
    let frame = Frame::new(&state, &signed, "Audit log", Nav::Audit)
        .await?
        .watched();
    let paged = after.is_some();
    let query = asked.query();
    let asking = PageRequest { limit: LIMIT, after };
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
    let asked = AuditQuery::read(&mut params, &signed.zone);
    let filter = asked.filter(&mut params, state.central.clock.now());
    params.finish()?;
    Ok(audit_export::csv(state, signed.caller.tenant, filter).await?)
}

impl AuditQuery {
    fn read(params: &mut Params, viewers: &Zone) -> Self {
        Self {
            kind: params.parsed("kind"),
            status: params.parsed("status"),
            actor: params.text("actor"),
            retried: params.boolean("retried").unwrap_or(false),
            correlation: params.text("correlation"),
            times: Times::read(params, viewers),
        }
    }

    /// What cannot be read is named in `params`, which refuses the request when it is finished.
    fn filter(&self, params: &mut Params, now: Timestamp) -> AuditFilter {
        let correlation = self.correlation.as_deref().map(|text| text.trim().parse());
        if let Some(Err(_)) = correlation {
            params.problem("correlation", "must be the id of a notification");
        }
        AuditFilter {
            from: self.times.start(now),
            to: self.times.end(),
            kind: self.kind,
            status: self.status,
            actor: self.actor.clone(),
            retried: self.retried,
            correlation: correlation.and_then(std::result::Result::ok),
        }
    }

    fn query(&self) -> String {
        let mut query = Query::default();
        query.add("kind", self.kind.map(AuditKind::as_str));
        query.add("status", self.status.map(AuditStatus::as_str));
        query.add("actor", self.actor.as_deref());
        query.add("retried", self.retried.then_some("true"));
        query.add("correlation", self.correlation.as_deref());
        self.times.add(&mut query);
        self.times.add_zone(&mut query);
        query.0
    }

    /// Each filter in words, with the address of the log without it.
    fn chips(&self) -> Vec<(String, String)> {
        let mut chips = vec![];
        let mut chip = |text: Option<String>, without: AuditQuery| {
            let place = format!("/audit?{}", without.query());
            chips.extend(text.map(|text| (text, place)));
        };
        let of = |label: &str, text: &Option<String>| text.as_ref().map(|text| format!("{label}: {text}"));
        let all = || self.clone();
        chip(
            self.kind.map(|kind| format!("What: {kind}")),
            AuditQuery { kind: None, ..all() },
        );
        let outcome = self.status.map(|status| format!("Outcome: {status}"));
        chip(
            outcome,
            AuditQuery {
                status: None,
                ..all()
            },
        );
        chip(of("Who", &self.actor), AuditQuery { actor: None, ..all() });
        chip(
            self.retried.then(|| "Failed and tried again".to_owned()),
            AuditQuery {
                retried: false,
                ..all()
            },
        );
        let about = of("Notification", &self.correlation);
        chip(
            about,
            AuditQuery {
                correlation: None,
                ..all()
            },
        );
        for (text, times) in self.times.chips() {
            chip(Some(text), AuditQuery { times, ..all() });
        }
        chips
    }

    fn is_kind(&self, kind: &AuditKind) -> bool {
        self.kind == Some(*kind)
    }

    fn is_status(&self, status: &AuditStatus) -> bool {
        self.status == Some(*status)
    }
}

/// What the notification of a row is called.
fn named(row: &AuditRow) -> String {
    match row.subject.as_deref().map(str::trim) {
        None | Some("") => "notification".to_owned(),
        Some(subject) => cut(subject, 120),
    }
}

fn is_long(detail: &str) -> bool {
    detail.chars().count() > SHOWN_CHARS
}

fn duration(millis: &u32) -> String {
    took(u64::from(*millis))
}
