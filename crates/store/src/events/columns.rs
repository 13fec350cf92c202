//! What is written of events and schedules, decided once for both databases.

use super::{EventEnd, ScheduleEnd};
use crate::{outbox::Ingested, query::Cursor};
use domain::{
    EventStatus, NotificationId, ScheduleStatus, Status, Timestamp,
    event::{CameTo, ScheduledMessage},
};
use std::time::Duration;

/// The longest error that is kept with a row, in characters.
const LONGEST_ERROR: usize = 1_000;

/// An error as it is kept: cut, and without what no text column holds.
pub(crate) fn kept_error(text: &str) -> String {
    text.chars().filter(|c| *c != '\0').take(LONGEST_ERROR).collect()
}

/// When an event says that it is due, as it is understood: an application may have written `infinity`, or nanoseconds.
pub(crate) fn sound_due(at: Timestamp) -> Timestamp {
    // Two days before the year 10000: shown in any zone, it is a date that can be read.
    const LAST: Timestamp = Timestamp::from_millis(253_402_128_000_000);
    at.clamp(Timestamp::EPOCH, LAST)
}

/// What the columns of an event that was not published are set to.
pub(crate) struct EventColumns {
    pub status: EventStatus,
    pub due_after: Duration,
    pub counted: i32,
}

impl EventEnd {
    pub(crate) fn columns(self) -> EventColumns {
        let (status, due_after, counted) = match self {
            EventEnd::Failed => (EventStatus::Failed, Duration::ZERO, 1),
            EventEnd::Deferred => (EventStatus::Deferred, Duration::ZERO, 0),
            EventEnd::Retry(after) => (EventStatus::Pending, after, 1),
            EventEnd::Wait(after) => (EventStatus::Pending, after, 0),
        };
        EventColumns {
            status,
            due_after,
            counted,
        }
    }
}

/// What the columns of a schedule that was not published are set to.
pub(crate) struct ScheduleColumns {
    pub status: ScheduleStatus,
    pub due_at: Option<Timestamp>,
    pub next_look: NextLook,
    pub counted: i32,
    pub error: Option<String>,
    /// The token stays, without its lease: a mark that no other event of the entity came since.
    pub keeps_token: bool,
}

pub(crate) enum NextLook {
    Never,
    At(Timestamp),
    After(Duration),
}

impl ScheduleEnd {
    pub(crate) fn columns(&self) -> ScheduleColumns {
        let ended = |status, error: &str| ScheduleColumns {
            status,
            due_at: None,
            next_look: NextLook::Never,
            counted: 0,
            error: Some(kept_error(error)),
            keeps_token: false,
        };
        let again = |after: &Duration, error: &str, counted| ScheduleColumns {
            next_look: NextLook::After(*after),
            counted,
            ..ended(ScheduleStatus::Pending, error)
        };
        match self {
            ScheduleEnd::Cancelled(reason) => ended(ScheduleStatus::Cancelled, reason),
            ScheduleEnd::Failed(reason) => ended(ScheduleStatus::Failed, reason),
            ScheduleEnd::Waits { due_at, next_look_at } => ScheduleColumns {
                status: ScheduleStatus::Pending,
                due_at: Some(*due_at),
                next_look: NextLook::At(*next_look_at),
                counted: 0,
                error: None,
                keeps_token: false,
            },
            ScheduleEnd::Retry { after, error } => again(after, error, 1),
            ScheduleEnd::Held { after, error } => ScheduleColumns {
                keeps_token: true,
                ..again(after, error, 0)
            },
        }
    }
}

/// What is written with a schedule once the store has said what it made of its notifications.
pub(crate) fn as_ingested(
    mut messages: Vec<ScheduledMessage>,
    answers: &[Ingested],
) -> Vec<ScheduledMessage> {
    for (message, answer) in messages.iter_mut().zip(answers) {
        match answer {
            Ingested::Accepted | Ingested::Replaced(_) => {}
            Ingested::Duplicate { status, .. } => {
                message.came_to = CameTo::Found;
                message.reason = message.notification.map(|id| found_in_words(id, *status));
            }
            Ingested::Refused(reason) => {
                message.came_to = CameTo::Refused;
                message.notification = None;
                message.reason = Some(kept_error(reason));
            }
        }
    }
    messages
}

/// What is said of a message that was there before. It is kept as it is written now, so it says how the other stood then.
fn found_in_words(id: NotificationId, status: Option<Status>) -> String {
    match status {
        // Kept no longer: only what has ended is purged.
        None => format!("already taken in as {id}, which is kept no longer"),
        Some(Status::Delivered) => format!("already sent as {id}"),
        Some(Status::Forwarding | Status::Pending | Status::Retrying) => {
            format!("already on its way as {id}")
        }
        Some(ended) => {
            format!("already taken in as {id}, which was {ended} when this came; it is not sent again")
        }
    }
}

/// The messages of a schedule with what a replay made of those that were missing. Two replays may have been at it: what one
/// of them made stays named.
pub(crate) fn extended(
    mut messages: Vec<ScheduledMessage>,
    made: Vec<ScheduledMessage>,
) -> Vec<ScheduledMessage> {
    for new in made {
        let same =
            |old: &ScheduledMessage| (&old.template_name, old.channel) == (&new.template_name, new.channel);
        let is_named = |old: &ScheduledMessage| same(old) && old.notification == new.notification;
        let is_missing = |old: &ScheduledMessage| same(old) && old.notification.is_none();
        if new.notification.is_some() && messages.iter().any(is_named) {
            continue;
        }
        match messages.iter().position(is_missing) {
            Some(at) => messages[at] = new,
            None if new.notification.is_some() => messages.push(new),
            None if new.came_to == CameTo::Refused && !messages.iter().any(same) => messages.push(new),
            None => {}
        }
    }
    messages
}

/// Where a page of rows that are walked by their number ends: `rows` has one more than fits where there is more.
pub(crate) fn next_place(last: Option<i64>) -> Option<Cursor> {
    last.map(|seq| Cursor {
        at: Timestamp::EPOCH,
        seq,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Channel, NotificationId};

    fn message(notification: Option<u128>) -> ScheduledMessage {
        ScheduledMessage {
            template: "1".into(),
            template_name: "default".into(),
            template_version: 1,
            channel: Channel::Email,
            came_to: CameTo::Created,
            notification: notification.map(|n| NotificationId(uuid::Uuid::from_u128(n))),
            reason: None,
        }
    }

    #[test]
    fn what_replays_made_is_named_once_however_often_they_make_it() {
        let (none, one, two) = (message(None), message(Some(1)), message(Some(2)));
        assert_eq!(extended(vec![none.clone()], vec![one.clone()]), vec![one.clone()]);
        let both = extended(vec![one.clone()], vec![two.clone()]);
        assert_eq!(both, [one.clone(), two.clone()]);
        let refused = ScheduledMessage {
            came_to: CameTo::Refused,
            ..none.clone()
        };
        assert_eq!(
            extended(both.clone(), vec![two, one, none, refused.clone()]),
            both
        );
        let listed = extended(vec![], vec![refused.clone()]);
        assert_eq!(listed, std::slice::from_ref(&refused));
        assert_eq!(extended(listed.clone(), vec![refused]), listed);
    }
}
