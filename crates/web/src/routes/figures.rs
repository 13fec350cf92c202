//! Figures, the audit log, lanes, loops and the stream of changes.

use super::PAGING;
use crate::{
    access::Access::Read,
    api::{audit, kpis, lanes, stream},
    dto::{
        audit::AuditView,
        kpi::{KpiView, SiteKpiView},
        lane::{LaneView, LoopView},
    },
    endpoint::{Endpoint, get},
    problem::Code::TooMany,
};

pub(super) fn routes() -> Vec<Endpoint> {
    vec![
        get("/api/kpis", Read, "The outbox in figures", kpis::whole)
            .answers::<KpiView>(200, "The figures now"),
        get(
            "/api/kpis/sites",
            Read,
            "The outbox in figures, per source site",
            kpis::by_site,
        )
        .pages::<SiteKpiView>("The figures now"),
        get("/api/audit", Read, "What happened, newest first", audit::list)
            .params(&[
                ("from", "at or after this time"),
                ("to", "before this time"),
                ("kind", "what happened"),
                ("status", "how it came out"),
                ("actor", "system, key:NAME, user:NAME, site:ID"),
                (
                    "retried",
                    "true: only attempts that failed and whose notification is tried again, also those that cost no try",
                ),
                ("correlation", "a notification id"),
            ])
            .params(&PAGING)
            .pages::<AuditView>("A page"),
        get(
            "/api/lanes",
            Read,
            "Providers as the dispatcher sees them: holds and what waits",
            lanes::lanes,
        )
        .pages::<LaneView>("All of them"),
        get(
            "/api/loops",
            Read,
            "How this node's background loops are doing",
            lanes::loops,
        )
        .pages::<LoopView>("All of them"),
        get(
            "/api/stream",
            Read,
            "Server-sent events: change, kpis, missed",
            stream::live,
        )
        .answers_as(
            200,
            "text/event-stream",
            "change carries ChangeView, kpis KpiView, missed {changes}",
        )
        .refuses(&[TooMany])
        .mentions::<stream::ChangeView>(),
    ]
}
