//! Acting on many notifications at once, and how far that is.

use crate::{
    access::Access::{Operate, Read, Replay},
    api::jobs,
    dto::{
        filter::BulkRequest,
        job::{DryRunAnswer, JobView},
    },
    endpoint::{Endpoint, get, post},
    problem::Code::Conflict,
};

pub(super) fn routes() -> Vec<Endpoint> {
    vec![
        post(
            "/api/notifications/retry",
            Replay,
            "Retry all parked notifications of a filter",
            jobs::retry,
        )
        .body::<BulkRequest>()
        .answers::<JobView>(202, "The job that does it")
        .answers::<DryRunAnswer>(200, "With dryRun: how many match, and when that was")
        .refuses(&[Conflict]),
        post(
            "/api/notifications/discard",
            Operate,
            "Discard all parked notifications of a filter",
            jobs::discard,
        )
        .body::<BulkRequest>()
        .answers::<JobView>(202, "The job that does it")
        .answers::<DryRunAnswer>(200, "With dryRun: how many match, and when that was")
        .refuses(&[Conflict]),
        post(
            "/api/notifications/cancel",
            Operate,
            "Call off all waiting notifications of a filter",
            jobs::cancel,
        )
        .body::<BulkRequest>()
        .answers::<JobView>(202, "The job that does it")
        .answers::<DryRunAnswer>(200, "With dryRun: how many match, and when that was")
        .refuses(&[Conflict]),
        post(
            "/api/notifications/resend",
            Operate,
            "Send all notifications of a filter that have ended once more",
            jobs::resend,
        )
        .body::<BulkRequest>()
        .answers::<JobView>(202, "The job that does it")
        .answers::<DryRunAnswer>(200, "With dryRun: how many match, and when that was")
        .refuses(&[Conflict]),
        get("/api/jobs", Read, "The newest 100 bulk actions", jobs::list).pages::<JobView>("All of them"),
        get("/api/jobs/{id}", Read, "How far a bulk action is", jobs::get).answers::<JobView>(200, "The job"),
        post(
            "/api/jobs/{id}/stop",
            Replay,
            "Stop a bulk action; what was done stays done",
            jobs::stop,
        )
        .answers::<JobView>(200, "The job as it ended"),
    ]
}
