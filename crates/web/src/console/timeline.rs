//! The story of one notification, from the script that sent it to where it is now.

use super::show::{Icon, took};
use domain::{AuditKind, AuditStatus, Timestamp, WaitReason, Waiting};
use store::query::{AuditRow, Notification};

/// One thing that happened, or will.
pub struct TimelineStep {
    pub at: Timestamp,
    pub icon: Icon,
    pub tone: &'static str,
    pub what: String,
    /// Words from outside: the far end's answer, an operator's reason.
    pub detail: Option<String>,
    pub code: Option<String>,
    /// The far end's own code.
    pub provider_code: Option<String>,
    pub took: Option<String>,
    /// The attempt whose transcript can be opened.
    pub transcript: Option<u32>,
    pub by: Option<String>,
    pub future: bool,
}

impl TimelineStep {
    fn new(at: Timestamp, icon: Icon, tone: &'static str, what: impl Into<String>) -> Self {
        Self {
            at,
            icon,
            tone,
            what: what.into(),
            detail: None,
            code: None,
            provider_code: None,
            took: None,
            transcript: None,
            by: None,
            future: false,
        }
    }
}

pub fn steps(row: &Notification, waiting: Option<&Waiting>, log: Vec<AuditRow>) -> Vec<TimelineStep> {
    let mut steps = vec![];
    let from = &row.submission.provenance;
    if let Some(at) = row.submission.site_enqueued_at {
        let what = match (&from.script, &from.site) {
            (Some(script), Some(site)) => format!("Sent by {script} at {site}"),
            (None, Some(site)) => format!("Sent at {site}"),
            (Some(script), None) => format!("Sent by {script}"),
            (None, None) => "Sent".into(),
        };
        steps.push(TimelineStep::new(at, Icon::Arrow, "quiet", what));
        if from.site.is_some() {
            let mut taken = TimelineStep::new(
                row.created_at,
                Icon::Arrow,
                "quiet",
                "Forwarded from the site's buffer",
            );
            let way = row.created_at.since(at);
            taken.took = Some(took(u64::try_from(way.as_millis()).unwrap_or(u64::MAX)));
            steps.push(taken);
        }
    }
    let mut number = 0;
    for entry in log {
        let mut step = logged(entry, &mut number);
        // The end of a notification has the words of the attempt that brought it about; once is enough.
        if let Some(before) = steps
            .last()
            .filter(|before| before.at == step.at && before.detail == step.detail)
        {
            step.detail = None;
            step.code = step.code.filter(|code| Some(code) != before.code.as_ref());
            step.provider_code = step
                .provider_code
                .filter(|own| Some(own) != before.provider_code.as_ref());
        }
        steps.push(step);
    }
    if let Some(receipt) = &row.receipt {
        let at = row.receipt_at.or(row.ended_at).unwrap_or(row.created_at);
        let (icon, tone) = match receipt.as_str() {
            "failed" => (Icon::Cross, "bad"),
            _ => (Icon::Tick, "good"),
        };
        let mut step = TimelineStep::new(at, icon, tone, "The provider reported back");
        step.detail = Some(receipt.clone());
        steps.push(step);
    }
    steps.extend(waiting.and_then(|waiting| to_come(row, waiting)));
    steps
}

fn logged(entry: AuditRow, number: &mut u32) -> TimelineStep {
    let through = entry.target.clone().unwrap_or_else(|| "the provider".into());
    let (icon, tone, what) = match (entry.kind, entry.status) {
        (AuditKind::NotifySend, _) => (Icon::Circle, "quiet", "Accepted and stored".to_owned()),
        (AuditKind::NotifyDeliver, AuditStatus::Attempted) => {
            *number += 1;
            match entry.code.as_deref() {
                None => (
                    Icon::Arrow,
                    "good",
                    format!("Attempt {number} through {through}: taken"),
                ),
                Some("INTERRUPTED") => (
                    Icon::Warning,
                    "busy",
                    format!("Attempt {number} was cut off: the process ended"),
                ),
                Some(_) => (
                    Icon::Turn,
                    "busy",
                    format!("Attempt {number} through {through}: failed"),
                ),
            }
        }
        (AuditKind::NotifyDeliver, AuditStatus::Delivered) => (Icon::Tick, "good", "Delivered".into()),
        (AuditKind::NotifyDeliver, AuditStatus::Parked) => (
            Icon::Pause,
            "bad",
            "Parked: it waits for somebody to decide".into(),
        ),
        (_, AuditStatus::Discarded) => (Icon::Cross, "quiet", "Discarded".into()),
        (AuditKind::NotifyRequeue, _) => {
            *number = 0;
            (Icon::Turn, "quiet", "Sent round again".into())
        }
        (AuditKind::NotifyTry, _) => (Icon::Turn, "quiet", "Tried at once".into()),
        (AuditKind::NotifyResend, _) => (
            Icon::Arrow,
            "quiet",
            "Asked for once more, as a new notification".into(),
        ),
        (AuditKind::NotifyReceipt, _) => (Icon::Dot, "quiet", "The provider reported back".into()),
        (kind, status) => (Icon::Dot, "quiet", format!("{kind}: {status}")),
    };
    TimelineStep {
        detail: entry.detail,
        code: entry.code,
        provider_code: entry.provider_code,
        took: entry.duration_ms.map(|ms| took(u64::from(ms))),
        transcript: entry.attempt.filter(|_| entry.has_transcript),
        by: Some(entry.actor).filter(|by| by != "system"),
        ..TimelineStep::new(entry.at, icon, tone, what)
    }
}

/// What happens next, while it waits.
fn to_come(row: &Notification, waiting: &Waiting) -> Option<TimelineStep> {
    if let Some(hold) = &row.held {
        let what = format!("Waits: {}", hold.in_words());
        // What held the lane before this one came began to matter to it when it came.
        let since = hold.since.max(row.waiting_since);
        let mut step = TimelineStep::new(hold.next_probe.unwrap_or(since), Icon::Hand, "bad", what);
        step.detail = hold.detail.clone();
        step.future = hold.next_probe.is_some();
        return Some(step);
    }
    if waiting.reason == WaitReason::Secrets {
        let what = format!("Waits: {}", waiting.reason.in_words());
        let mut step = TimelineStep::new(row.waiting_since, Icon::Hand, "bad", what);
        step.detail = waiting.detail.clone();
        return Some(step);
    }
    let at = waiting.until.or(row.next_attempt_at)?;
    let what = if row.retry_count == 0 {
        "First attempt"
    } else {
        "Next attempt"
    };
    let mut step = TimelineStep::new(at, Icon::Clock, "quiet", what);
    step.future = true;
    Some(step)
}
