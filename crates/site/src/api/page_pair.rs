//! The two machines of a site, on its status page.

use super::page::escaped;
use crate::pair::{LeaseBy, MOST_COUNTED, PairStatus};
use domain::{Timestamp, pair::Role, retry};
use std::{fmt::Write, time::Duration};

pub(super) fn shown(status: &PairStatus, now: Timestamp) -> String {
    let heard = |at: Timestamp| match now.since(at).as_secs() {
        0 => "Heard just now".to_owned(),
        seconds => format!("Heard last {} ago", retry::human(Duration::from_secs(seconds))),
    };
    let mut html = String::from("<h2>Two machines</h2>");
    let _ = match status.role {
        Role::Active => write!(
            html,
            "<p>This machine is <span class=\"good\">active</span> (turn {}).</p>",
            status.epoch
        ),
        Role::Standby => write!(
            html,
            "<p>This machine is the <strong>standby</strong>: it keeps a copy and sends nothing. It \
             takes over when the active one is gone and central agrees; <code>waypost site promote</code> makes it the active \
             one at once.</p>"
        ),
    };
    let other = &status.other;
    let name = escaped(other.name.as_deref().unwrap_or(&other.address));
    let _ = match (&other.trouble, other.last_contact_at) {
        (Some(why), Some(at)) => write!(
            html,
            "<p class=\"bad\">{name} cannot be asked: {}. {}.</p>",
            escaped(why),
            heard(at)
        ),
        (Some(why), None) => write!(
            html,
            "<p class=\"bad\">{name} cannot be asked: {}.</p>",
            escaped(why)
        ),
        (None, Some(at)) => write!(
            html,
            "<p>{name} is {}. {}.</p>",
            match other.role {
                Some(Role::Active) => "active",
                Some(Role::Standby) => "the standby",
                None => "there",
            },
            heard(at)
        ),
        (None, None) => write!(html, "<p>{name} has not been asked yet.</p>"),
    };
    if other.trouble.is_none() && status.role == Role::Standby && other.role == Some(Role::Standby) {
        html.push_str(
            "<p class=\"bad\">Neither machine is active. <code>waypost site promote</code> on one of them says which is \
             to be.</p>",
        );
    }
    html.push_str(&copy(status));
    html.push_str(&lease(status));
    if let Some(own) = status.own.filter(|own| *own > 0) {
        let more = if own >= MOST_COUNTED.into() {
            " or more"
        } else {
            ""
        };
        let words = if own == 1 { "message is" } else { "messages are" };
        let _ = write!(html, "<p>{own}{more} {words} on this machine alone.</p>");
    }
    if let Some(why) = &status.unrelieved {
        let _ = write!(
            html,
            "<p class=\"bad\">This machine would hand over: {}.</p>",
            escaped(why)
        );
    }
    if status.alone {
        html.push_str(
            "<p class=\"bad\">The standby does not follow: messages are taken in without waiting for it.</p>",
        );
    }
    for words in &status.differences {
        let _ = write!(html, "<p class=\"bad\">{}.</p>", escaped(words));
    }
    html
}

/// Who may attempt what both know.
fn lease(status: &PairStatus) -> String {
    if let Some(why) = &status.held {
        return format!(
            "<p class=\"bad\">Held: calls and writes that both machines know are not attempted. {}.</p>",
            escaped(why)
        );
    }
    match status.lease {
        Some((LeaseBy::Standby, left)) => {
            format!("<p>The standby gave the lease, for {} s more.</p>", begun(left))
        }
        Some((LeaseBy::Witness, left)) => {
            format!("<p>Central gave the lease, for {} s more.</p>", begun(left))
        }
        Some((LeaseBy::Nobody, _)) | None => String::new(),
    }
}

/// Seconds, the one that has begun included.
fn begun(left: Duration) -> u128 {
    left.as_millis().div_ceil(1_000)
}

/// How far the copy is.
fn copy(status: &PairStatus) -> String {
    if let Some(rows) = status.copied {
        return format!("<p>A whole copy is being made: {rows} rows so far.</p>");
    }
    match (status.behind, status.behind_for) {
        (Some(0), _) => "<p>The copy is complete.</p>".into(),
        (Some(n), Some(time)) => format!(
            "<p>The copy lacks {n} changes; it was complete {} ago.</p>",
            retry::human(std::time::Duration::from_secs(time.as_secs()))
        ),
        (Some(n), None) => format!("<p class=\"bad\">The copy lacks {n} changes.</p>"),
        (None, _) => {
            "<p class=\"bad\">How far the copy is, is not known since this agent started.</p>".into()
        }
    }
}
