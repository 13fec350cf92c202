//! Notifications and audit rows, for people.

use super::{
    Cells, line, table,
    table::status,
    time::{full, short},
};
use client::{AttemptTranscript, AuditRow, NotificationRow, Waiting};
use comfy_table::Cell;
use domain::RecipientResult;

/// A list of notifications, one line each.
pub fn notifications(rows: &[NotificationRow]) -> String {
    let cells = |row: &NotificationRow| -> Cells {
        vec![
            Cell::new(row.notification_id),
            status(row.status),
            Cell::new(row.channel),
            Cell::new(whom(row)),
            Cell::new(cut(row.subject.as_deref().unwrap_or(""), 40)),
            Cell::new(short(row.created_at)),
            Cell::new(row.retry_count),
            Cell::new(why(row)),
        ]
    };
    let headers = ["id", "status", "type", "to", "subject", "created", "tries", "why"];
    table(&headers, rows.iter().map(cells)).trim_fmt()
}

/// To whom it goes, in a few characters.
fn whom(row: &NotificationRow) -> String {
    match (&row.list_name, &row.to) {
        (Some(list), _) => list.clone(),
        (None, Some(to)) if to.len() > 1 => format!("{} +{}", to[0], to.len() - 1),
        (None, Some(to)) => to.first().cloned().unwrap_or_default(),
        (None, None) => row.provider.clone().unwrap_or_default(),
    }
}

/// Why it is where it is, and until when.
fn why(row: &NotificationRow) -> String {
    match (&row.waiting, &row.error_code) {
        (Some(waiting), _) => cut(&waits(waiting), 60),
        // What was delivered keeps its last failure; it is no reason for anything.
        (None, Some(code)) if row.delivered_at.is_none() => code.clone(),
        (None, _) => String::new(),
    }
}

/// `held (auth: 535 …), next in 4m`
pub fn waits(waiting: &Waiting) -> String {
    let detail = waiting
        .detail
        .as_ref()
        .map(|d| format!(" ({d})"))
        .unwrap_or_default();
    let until = waiting
        .until
        .map(|at| format!(", next {}", short(at)))
        .unwrap_or_default();
    format!("{}{until}{detail}", waiting.reason)
}

/// Everything about one notification.
pub fn notification(row: &NotificationRow) -> anyhow::Result<()> {
    let pairs = [
        ("id", Some(row.notification_id.to_string())),
        ("status", Some(row.status.to_string())),
        ("delivery", row.delivery_state.map(|state| state.to_string())),
        ("type", Some(row.channel.to_string())),
        ("list", row.list_name.clone()),
        ("to", row.to.as_ref().map(|to| to.join(", "))),
        ("provider", row.provider.clone()),
        ("subject", row.subject.clone()),
        ("tries", Some(row.retry_count.to_string())),
        (
            "error",
            row.error_code.as_deref().map(|code| {
                let error = row.last_error.as_deref().unwrap_or_default();
                format!("{}: {error}", codes(code, row.provider_code.as_deref()))
            }),
        ),
        ("waits", row.waiting.as_ref().map(waits)),
        (
            "held",
            row.held.as_ref().map(|hold| {
                let probe = hold
                    .next_probe
                    .map(|at| format!(", next probe {}", short(at)))
                    .unwrap_or_default();
                format!(
                    "{}{}{probe}",
                    hold.reason,
                    hold.detail.as_ref().map(|d| format!(": {d}")).unwrap_or_default()
                )
            }),
        ),
        ("created", Some(full(row.created_at))),
        ("send at", row.send_at.map(full)),
        ("expires", row.expires_at.map(full)),
        ("last attempt", row.last_attempt_at.map(full)),
        ("next attempt", row.next_attempt_at.map(full)),
        ("delivered", row.delivered_at.map(full)),
        (
            "ended",
            row.ended_at.filter(|_| row.delivered_at.is_none()).map(full),
        ),
        ("far end's id", row.provider_message_id.clone()),
        (
            "receipt",
            row.receipt.as_ref().map(|receipt| match row.receipt_at {
                Some(at) => format!("{receipt}, {}", full(at)),
                None => receipt.clone(),
            }),
        ),
        ("site", row.source_site_id.clone()),
        (
            "about",
            row.entity_type
                .as_ref()
                .map(|t| format!("{t} {}", row.entity_id.as_deref().unwrap_or(""))),
        ),
        ("sent by", row.submitted_by.clone()),
    ];
    for (name, value) in pairs {
        if let Some(value) = value {
            line(format_args!("{name:>13}  {value}"))?;
        }
    }
    if !row.recipients.is_empty() {
        line(format_args!("\n{}", recipients(&row.recipients)))?;
    }
    if let Some(body) = &row.body {
        line(format_args!("\n{body}"))?;
    }
    Ok(())
}

fn recipients(recipients: &[RecipientResult]) -> String {
    let cells = recipients.iter().map(|r| {
        let error = r.error.clone().unwrap_or_default();
        vec![
            Cell::new(&r.address),
            Cell::new(format!("{:?}", r.state)),
            Cell::new(codes(r.code.as_deref().unwrap_or(""), r.provider_code.as_deref())),
            Cell::new(cut(&error, 60)),
            Cell::new(r.receipt.map_or("", |receipt| receipt.as_str())),
            Cell::new(short(r.at)),
        ]
    });
    table(&["recipient", "state", "code", "error", "receipt", "when"], cells).trim_fmt()
}

/// `RECIPIENT (SMTP_550_5.1.1)`: ours, and the far end's own.
fn codes(code: &str, own: Option<&str>) -> String {
    match own {
        Some(own) => format!("{code} ({})", cut(own, 40)),
        None => code.to_owned(),
    }
}

/// Audit rows, one line each.
pub fn audit(rows: &[AuditRow]) -> String {
    let cells = |row: &AuditRow| -> Cells {
        vec![
            Cell::new(row.at),
            Cell::new(&row.kind),
            Cell::new(match row.attempt {
                Some(number) => format!("{} {number}", row.status),
                None => row.status.clone(),
            }),
            Cell::new(&row.actor),
            Cell::new(row.notification_id.map(|id| id.to_string()).unwrap_or_default()),
            Cell::new(row.target.as_deref().unwrap_or("")),
            Cell::new(row.duration_ms.map(|ms| format!("{ms} ms")).unwrap_or_default()),
            Cell::new(codes(
                row.code.as_deref().unwrap_or(""),
                row.provider_code.as_deref(),
            )),
            Cell::new(cut(row.detail.as_deref().unwrap_or(""), 60)),
        ]
    };
    let headers = [
        "at",
        "what",
        "came out",
        "by",
        "notification",
        "target",
        "took",
        "code",
        "detail",
    ];
    table(&headers, rows.iter().map(cells)).trim_fmt()
}

/// What was said in one attempt.
pub fn transcript(said: &AttemptTranscript) -> anyhow::Result<()> {
    let number = said.attempt.map(|n| n.to_string()).unwrap_or_default();
    let provider = said.provider.as_deref().unwrap_or("nobody");
    let came_out = match &said.code {
        None => "taken",
        Some(code) => code,
    };
    line(format_args!(
        "attempt {number} through {provider}, {}: {came_out}",
        full(said.at)
    ))?;
    if let Some(id) = &said.message_id {
        line(format_args!("Message-ID: {id}"))?;
    }
    for part in &said.parts {
        line(format_args!("\n{}:\n{}", part.side, part.text))?;
    }
    match said.cut {
        true => line("\nthere was more; only the beginning is kept"),
        false => Ok(()),
    }
}

/// At most so many characters, on one line.
pub fn cut(text: &str, longest: usize) -> String {
    let text = text.replace(['\r', '\n', '\t'], " ");
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
