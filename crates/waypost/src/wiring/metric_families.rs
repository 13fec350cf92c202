//! Every family of metrics that is recorded, with its help text and its unit. `docs/metrics.md` says the same; a test
//! compares the two, the names in the sources and what `/metrics` shows.

use metrics::Unit;

/// One family of metrics.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    pub kind: Kind,
    pub unit: Unit,
    pub help: &'static str,
    /// Whether its values differ by labels. One without labels is shown from the start, as 0.
    pub labelled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
    Histogram,
}

const fn plain(name: &'static str, kind: Kind, unit: Unit, help: &'static str) -> Family {
    Family {
        name,
        kind,
        unit,
        help,
        labelled: false,
    }
}

const fn labelled(name: &'static str, kind: Kind, unit: Unit, help: &'static str) -> Family {
    Family {
        labelled: true,
        ..plain(name, kind, unit, help)
    }
}

/// What `waypost serve` records. The state of the outbox is added by `web` at each scrape.
pub const CENTRAL: &[Family] = &[
    plain(
        "waypost_ingested_total",
        Kind::Counter,
        Unit::Count,
        "Notifications stored.",
    ),
    plain(
        "waypost_ingest_duplicates_total",
        Kind::Counter,
        Unit::Count,
        "Submissions of an id or key that was known already.",
    ),
    plain(
        "waypost_events_published_total",
        Kind::Counter,
        Unit::Count,
        "Events that became a schedule.",
    ),
    plain(
        "waypost_events_settled_total",
        Kind::Counter,
        Unit::Count,
        "Events that were failed, deferred or put off.",
    ),
    labelled(
        "waypost_attempts_total",
        Kind::Counter,
        Unit::Count,
        "Attempts that ended, by result and kind of provider.",
    ),
    labelled(
        "waypost_attempt_seconds",
        Kind::Histogram,
        Unit::Seconds,
        "How long attempts took, by result.",
    ),
    plain(
        "waypost_failover_moved_total",
        Kind::Counter,
        Unit::Count,
        "Notifications that went on to the next provider of their type.",
    ),
    labelled(
        "waypost_transcripts_total",
        Kind::Counter,
        Unit::Count,
        "Attempts in which something was said, by whether it was kept.",
    ),
    labelled(
        "waypost_receipts_total",
        Kind::Counter,
        Unit::Count,
        "Receipts of providers, by what became of them.",
    ),
    plain(
        "waypost_sending",
        Kind::Gauge,
        Unit::Count,
        "Attempts under way on this node.",
    ),
    plain(
        "waypost_sites_connected",
        Kind::Gauge,
        Unit::Count,
        "Sites whose link ends at this node.",
    ),
    plain(
        "waypost_site_conflicts_total",
        Kind::Counter,
        Unit::Count,
        "Times an agent was sent away because another one has its site id.",
    ),
    plain(
        "waypost_audit_write_failures_total",
        Kind::Counter,
        Unit::Count,
        "Audit rows that could not be written.",
    ),
    plain(
        "waypost_sign_ins_refused_total",
        Kind::Counter,
        Unit::Count,
        "Sign-ins to the console that were refused.",
    ),
    labelled(
        "waypost_http_requests_total",
        Kind::Counter,
        Unit::Count,
        "Requests answered, by method, path template and status.",
    ),
    labelled(
        "waypost_http_request_seconds",
        Kind::Histogram,
        Unit::Seconds,
        "How long requests took to answer, by path template.",
    ),
    plain(
        "waypost_http_refused_total",
        Kind::Counter,
        Unit::Count,
        "HTTP connections closed at once, because there were too many.",
    ),
    plain(
        "waypost_link_refused_total",
        Kind::Counter,
        Unit::Count,
        "Connections to the link closed at once, because there were too many.",
    ),
    labelled(
        "waypost_loop_runs_total",
        Kind::Counter,
        Unit::Count,
        "Runs of background loops, by loop and result.",
    ),
    labelled(
        "waypost_loop_run_seconds",
        Kind::Histogram,
        Unit::Seconds,
        "How long runs of background loops took, by loop.",
    ),
    labelled(
        "waypost_loop_last_run_timestamp_seconds",
        Kind::Gauge,
        Unit::Seconds,
        "When a background loop last ran, in seconds since 1970.",
    ),
    plain(
        "waypost_spans_dropped_total",
        Kind::Counter,
        Unit::Count,
        "Spans of traces that could not be sent to the collector.",
    ),
];

/// What `waypost site` records.
pub const SITE: &[Family] = &[
    labelled(
        "waypost_site_queue_depth",
        Kind::Gauge,
        Unit::Count,
        "Messages that wait in the buffer, by category.",
    ),
    labelled(
        "waypost_site_parked",
        Kind::Gauge,
        Unit::Count,
        "Messages that are parked, by category.",
    ),
    labelled(
        "waypost_site_buffer_bytes",
        Kind::Gauge,
        Unit::Bytes,
        "About how much the buffered messages and the reports for central take.",
    ),
    labelled(
        "waypost_site_refusing",
        Kind::Gauge,
        Unit::Count,
        "1 while new messages are refused for want of room.",
    ),
    labelled(
        "waypost_site_damage",
        Kind::Gauge,
        Unit::Count,
        "Damage to the buffer that nobody has acknowledged.",
    ),
    labelled(
        "waypost_site_remembered_bytes",
        Kind::Gauge,
        Unit::Bytes,
        "The part of the buffer that central has acknowledged or heard.",
    ),
    labelled(
        "waypost_site_without_handler",
        Kind::Gauge,
        Unit::Count,
        "Messages for a system or connection that is not configured.",
    ),
    labelled(
        "waypost_site_target_down",
        Kind::Gauge,
        Unit::Count,
        "1 while a system or connection does not answer and is only probed.",
    ),
    labelled(
        "waypost_site_link_up",
        Kind::Gauge,
        Unit::Count,
        "1 while the link to central is up.",
    ),
    labelled(
        "waypost_site_active",
        Kind::Gauge,
        Unit::Count,
        "Of a site with two machines: 1 on the active one, 0 on the standby.",
    ),
    labelled(
        "waypost_site_copy_behind",
        Kind::Gauge,
        Unit::Count,
        "Changes that the standby lacked when the two machines last heard of each other.",
    ),
    labelled(
        "waypost_site_peer_reachable",
        Kind::Gauge,
        Unit::Count,
        "1 while the other machine of the site can be asked.",
    ),
    labelled(
        "waypost_site_copy_behind_seconds",
        Kind::Gauge,
        Unit::Seconds,
        "How long ago the standby's copy was known to lack nothing.",
    ),
    labelled(
        "waypost_site_peer_silent_seconds",
        Kind::Gauge,
        Unit::Seconds,
        "How long ago the other machine was heard of, or this agent started.",
    ),
    labelled(
        "waypost_site_lease",
        Kind::Gauge,
        Unit::Count,
        "1 at who gave the lease that is held: Standby, Central, or Nobody where none is needed.",
    ),
    labelled(
        "waypost_site_lease_seconds",
        Kind::Gauge,
        Unit::Seconds,
        "What is left of the lease of a site with two machines; 60 where none is needed, 0 without one.",
    ),
    labelled(
        "waypost_site_own_rows",
        Kind::Gauge,
        Unit::Count,
        "Messages that only this machine has: of an active one counted up to 10,000, when it last reported; of a standby those it keeps for the active one.",
    ),
    labelled(
        "waypost_site_held",
        Kind::Gauge,
        Unit::Count,
        "1 while calls and writes that both machines know are not attempted, because this one has no lease.",
    ),
    plain(
        "waypost_site_handovers_total",
        Kind::Counter,
        Unit::Count,
        "Times this machine handed over by itself: no room on its disk, or no central while its standby has it.",
    ),
    plain(
        "waypost_site_takeovers_total",
        Kind::Counter,
        Unit::Count,
        "Times this machine took over by itself.",
    ),
    plain(
        "waypost_site_unreplicated_total",
        Kind::Counter,
        Unit::Count,
        "Messages that were taken in without the standby, although it should be waited for.",
    ),
    plain(
        "waypost_link_up",
        Kind::Gauge,
        Unit::Count,
        "1 while the link to central is up, without the label of the site.",
    ),
    labelled(
        "waypost_site_attempts_total",
        Kind::Counter,
        Unit::Count,
        "Attempts that ended, by category and outcome.",
    ),
    plain(
        "waypost_site_telemetry_failed_total",
        Kind::Counter,
        Unit::Count,
        "News of calls and writes for central that could not be kept.",
    ),
    plain(
        "waypost_site_http_refused_total",
        Kind::Counter,
        Unit::Count,
        "Connections to the site's API closed at once, because there were too many.",
    ),
    labelled(
        "waypost_loop_runs_total",
        Kind::Counter,
        Unit::Count,
        "Runs of background loops, by loop and result.",
    ),
    labelled(
        "waypost_loop_run_seconds",
        Kind::Histogram,
        Unit::Seconds,
        "How long runs of background loops took, by loop.",
    ),
    labelled(
        "waypost_loop_last_run_timestamp_seconds",
        Kind::Gauge,
        Unit::Seconds,
        "When a background loop last ran, in seconds since 1970.",
    ),
    plain(
        "waypost_spans_dropped_total",
        Kind::Counter,
        Unit::Count,
        "Spans of traces that could not be sent to the collector.",
    ),
];

impl Family {
    /// Tells the recorder what this is.
    pub fn describe(&self) {
        let Family { name, unit, help, .. } = *self;
        match self.kind {
            Kind::Counter => metrics::describe_counter!(name, unit, help),
            Kind::Gauge => metrics::describe_gauge!(name, unit, help),
            Kind::Histogram => metrics::describe_histogram!(name, unit, help),
        }
        // A counter that appears with its first event hides that event from a rate.
        match self.kind {
            Kind::Counter if !self.labelled => metrics::counter!(name).increment(0),
            Kind::Gauge if !self.labelled => metrics::gauge!(name).increment(0.0),
            _ => {}
        }
    }
}
