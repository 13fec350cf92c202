//! Notifications: handed in, read, acted on one by one.

use super::PAGING;
use crate::{
    access::Access::{Operate, Read, Replay, Status, Submit},
    api::{actions, batch, notifications, submit, transcripts},
    dto::{
        audit::AuditView,
        filter,
        notification::{ActedAnswer, Notification, ReasonRequest, ResendRequest, StatusAnswer},
        page::NotificationPage,
        submit::{BatchAnswer, BatchRequest, ResendAnswer, SubmitAnswer, SubmitRequest},
        transcript::AttemptTranscript,
    },
    endpoint::{Endpoint, get, post},
    problem::Code::{ValidationFailed, WrongState},
};

pub(super) fn routes() -> Vec<Endpoint> {
    let parts = [handing_in_and_reading(), acting()];
    parts.into_iter().flatten().collect()
}

fn handing_in_and_reading() -> Vec<Endpoint> {
    vec![
        post(
            "/api/notifications",
            Submit,
            "Hand one notification in",
            submit::one,
        )
        .body::<SubmitRequest>()
        .answers::<SubmitAnswer>(202, "It is stored"),
        post(
            "/api/notifications/batch",
            Submit,
            "Hand up to 1,000 notifications in",
            batch::many,
        )
        .body::<BatchRequest>()
        .answers::<BatchAnswer>(202, "A result per item, in order"),
        get(
            "/api/notifications",
            Read,
            "Notifications, newest first; as CSV with Accept: text/csv",
            notifications::list,
        )
        .params(&filter::documented())
        .params(&PAGING)
        .answers::<NotificationPage>(200, "A page, or with Accept: text/csv everything")
        .answers_as(200, "text/csv", "Everything that matches"),
        get(
            "/api/notifications/{id}",
            Read,
            "One notification, whole",
            notifications::get,
        )
        .answers::<Notification>(200, "The notification"),
        get(
            "/api/notifications/{id}/status",
            Status,
            "How one notification stands",
            notifications::status,
        )
        .answers::<StatusAnswer>(200, "Its status"),
        get(
            "/api/notifications/{id}/attempts",
            Read,
            "What happened to one notification",
            notifications::attempts,
        )
        .pages::<AuditView>("Its audit rows, oldest first"),
        get(
            "/api/notifications/{id}/attempts/{n}/transcript",
            Read,
            "What was sent and what came back in one attempt",
            transcripts::get,
        )
        .answers::<AttemptTranscript>(200, "What was said, in order, without secrets"),
    ]
}

fn acting() -> Vec<Endpoint> {
    vec![
        post(
            "/api/notifications/{id}/retry",
            Replay,
            "Send a parked notification round again",
            actions::retry,
        )
        .answers::<ActedAnswer>(200, "It waits to be sent")
        .refuses(&[WrongState]),
        post(
            "/api/notifications/{id}/discard",
            Operate,
            "Give a parked notification up",
            actions::discard,
        )
        .optional_body::<ReasonRequest>()
        .answers::<ActedAnswer>(200, "It is discarded")
        .refuses(&[WrongState]),
        post(
            "/api/notifications/{id}/try",
            Operate,
            "Try a waiting notification now instead of later",
            actions::try_now,
        )
        .answers::<ActedAnswer>(200, "It is due")
        .refuses(&[WrongState]),
        post(
            "/api/notifications/{id}/cancel",
            Operate,
            "Call a waiting notification off",
            actions::cancel,
        )
        .optional_body::<ReasonRequest>()
        .answers::<ActedAnswer>(200, "It is discarded")
        .refuses(&[WrongState]),
        post(
            "/api/notifications/{id}/resend",
            Operate,
            "Send a notification that has ended once more",
            actions::resend,
        )
        .optional_body::<ResendRequest>()
        .answers::<ResendAnswer>(202, "A new notification with the same content")
        .refuses(&[WrongState, ValidationFailed]),
    ]
}
