//! A state as a shape and a word; the colour only helps.

use super::Icon;
use askama::filters::HtmlSafe;
use domain::{
    EventStatus, LaneReport, LaneState, ScheduleStatus, Status, Timestamp, event::CameTo,
    site::OperationStatus,
};
use std::fmt;

/// How good or bad it is, for the colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Quiet,
    Good,
    Busy,
    Bad,
}

#[derive(Debug, Clone, Copy)]
pub struct Badge {
    icon: Icon,
    word: &'static str,
    tone: Tone,
}

impl HtmlSafe for Badge {}

impl fmt::Display for Badge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tone = match self.tone {
            Tone::Quiet => "quiet",
            Tone::Good => "good",
            Tone::Busy => "busy",
            Tone::Bad => "bad",
        };
        write!(
            f,
            "<span class=\"badge badge-{tone}\" data-state=\"{1}\">{0}{1}</span>",
            self.icon, self.word
        )
    }
}

impl Badge {
    const fn new(icon: Icon, word: &'static str, tone: Tone) -> Self {
        Self { icon, word, tone }
    }

    /// Without its picture.
    pub fn word(&self) -> &'static str {
        self.word
    }

    pub const STUCK: Badge = Badge::new(Icon::Clock, "Stuck", Tone::Bad);
    pub const HELD: Badge = Badge::new(Icon::Hand, "Held", Tone::Bad);
    pub const ONLINE: Badge = Badge::new(Icon::Tick, "Online", Tone::Good);
    pub const OFFLINE: Badge = Badge::new(Icon::Cross, "Offline", Tone::Bad);
    pub const NO_AGENT: Badge = Badge::new(Icon::Dot, "No agent", Tone::Quiet);
    pub const NEVER_SEEN: Badge = Badge::new(Icon::Circle, "Never connected", Tone::Quiet);
    pub const DISABLED: Badge = Badge::new(Icon::Cross, "Disabled", Tone::Quiet);
    pub const ENABLED: Badge = Badge::new(Icon::Tick, "Active", Tone::Good);
    pub const GONE: Badge = Badge::new(Icon::Cross, "Deleted", Tone::Quiet);
    pub const REVOKED: Badge = Badge::new(Icon::Cross, "Revoked", Tone::Quiet);
    pub const ACCEPTED: Badge = Badge::new(Icon::Tick, "Accepted", Tone::Good);
    pub const OPEN: Badge = Badge::new(Icon::Circle, "Open", Tone::Quiet);
    pub const FAILED: Badge = Badge::new(Icon::Cross, "Failed", Tone::Bad);
    pub const SUPPRESSED: Badge = Badge::new(Icon::Hand, "Suppressed", Tone::Quiet);
    pub const AMBIGUOUS: Badge = Badge::new(Icon::Clock, "In doubt", Tone::Bad);
    pub const WORKING: Badge = Badge::new(Icon::Turn, "Working", Tone::Busy);
    pub const STOPPED: Badge = Badge::new(Icon::Cross, "Stopped", Tone::Quiet);
    pub const DONE: Badge = Badge::new(Icon::Tick, "Done", Tone::Good);
    pub const SKIPPED: Badge = Badge::new(Icon::Dot, "Skipped", Tone::Quiet);
    pub const REFUSED: Badge = Badge::new(Icon::Cross, "Refused", Tone::Bad);
}

pub fn status_badge(status: &Status) -> Badge {
    match status {
        Status::Forwarding => Badge::new(Icon::Arrow, "Forwarding", Tone::Quiet),
        Status::Pending => Badge::new(Icon::Circle, "Pending", Tone::Quiet),
        Status::Retrying => Badge::new(Icon::Turn, "Retrying", Tone::Busy),
        Status::Delivered => Badge::new(Icon::Tick, "Delivered", Tone::Good),
        Status::Parked => Badge::new(Icon::Pause, "Parked", Tone::Bad),
        Status::Discarded => Badge::new(Icon::Cross, "Discarded", Tone::Quiet),
    }
}

/// An event in the outbox.
pub fn event_badge(status: &EventStatus) -> Badge {
    match status {
        EventStatus::Pending => status_badge(&Status::Pending),
        EventStatus::Published => Badge::new(Icon::Tick, "Published", Tone::Good),
        EventStatus::Failed => Badge::FAILED,
        EventStatus::Deferred => Badge::new(Icon::Hand, "Deferred", Tone::Busy),
    }
}

pub fn schedule_badge(status: &ScheduleStatus) -> Badge {
    match status {
        ScheduleStatus::Pending => Badge::new(Icon::Clock, "Pending", Tone::Quiet),
        ScheduleStatus::Published => Badge::new(Icon::Arrow, "Published", Tone::Busy),
        ScheduleStatus::Completed => Badge::new(Icon::Tick, "Completed", Tone::Good),
        ScheduleStatus::Failed => Badge::FAILED,
        ScheduleStatus::Cancelled => Badge::new(Icon::Cross, "Cancelled", Tone::Quiet),
    }
}

/// What one template came to, and where its notification stands if there still is one.
pub fn message_badge(came_to: &CameTo, status: &Option<Status>) -> Badge {
    match (came_to, status) {
        (_, Some(status)) => status_badge(status),
        (CameTo::Skipped, None) => Badge::SKIPPED,
        (CameTo::Refused, None) => Badge::REFUSED,
        (CameTo::Created | CameTo::Found, None) => Badge::new(Icon::Dot, "Purged", Tone::Quiet),
    }
}

/// A call or write of a site.
pub fn operation_badge(status: &OperationStatus) -> Badge {
    match status {
        OperationStatus::Submitted => Badge::new(Icon::Circle, "Submitted", Tone::Quiet),
        OperationStatus::Retrying => status_badge(&Status::Retrying),
        OperationStatus::Delivered => status_badge(&Status::Delivered),
        OperationStatus::Parked => status_badge(&Status::Parked),
        OperationStatus::Failed => Badge::FAILED,
        OperationStatus::Discarded => status_badge(&Status::Discarded),
    }
}

pub fn ok_badge(ok: bool) -> Badge {
    match ok {
        true => Badge::new(Icon::Tick, "Well", Tone::Good),
        false => Badge::FAILED,
    }
}

/// What a lane is doing, in a word, and why in some more.
#[derive(Debug, Clone)]
pub struct LaneShown {
    pub badge: Badge,
    /// There is nothing to do and nothing to say.
    pub idle: bool,
    pub why: String,
    pub since: Option<Timestamp>,
    pub next: Option<Timestamp>,
    pub detail: Option<String>,
    /// What helps, where something is wrong.
    pub advice: Option<String>,
}

impl From<LaneReport> for LaneShown {
    fn from(report: LaneReport) -> Self {
        Self {
            idle: report.state == LaneState::Idle,
            badge: match report.state {
                LaneState::Idle => Badge::new(Icon::Dot, "Idle", Tone::Quiet),
                LaneState::Sending => Badge::new(Icon::Flow, "Sending", Tone::Good),
                LaneState::Failing => Badge::new(Icon::Turn, "Failing", Tone::Bad),
                LaneState::Throttled => Badge::new(Icon::Clock, "Waiting", Tone::Busy),
                LaneState::Sealed | LaneState::Held => Badge::HELD,
                LaneState::Disabled => Badge::DISABLED,
            },
            why: report.words,
            since: report.since,
            next: report.until,
            detail: report.detail,
            advice: report.advice,
        }
    }
}
