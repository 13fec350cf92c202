//! Sites, what is parked there, and what waits.

use super::PAGING;
use crate::{
    access::Access::{Administer, Operate, Read},
    api::{site_waiting, sites},
    dto::{
        job::JobView,
        site::{NewSiteView, SiteRequest, SiteView},
        site_bulk::{SiteBulkRequest, SiteCountAnswer},
        site_messages::{ParkedActedView, ParkedPageView, SiteCallView},
        site_waiting::{SiteWaitingActedView, SiteWaitingPageView},
    },
    endpoint::{Endpoint, get, post},
    problem::Code::{Conflict, SiteFailed, SiteNoAnswer, SiteOffline, WrongState},
};

/// A site is asked over its link; when it is not there, or does not answer, these say so.
const ASKED: [crate::problem::Code; 3] = [SiteOffline, SiteNoAnswer, SiteFailed];

pub(super) fn routes() -> Vec<Endpoint> {
    let parts = [known(), parked(), waiting()];
    parts.into_iter().flatten().collect()
}

fn known() -> Vec<Endpoint> {
    vec![
        get("/api/sites", Read, "Sites, and whether they are there", sites::list)
            .params(&PAGING)
            .pages::<SiteView>("A page"),
        post("/api/sites", Administer, "Make a site known", sites::register)
            .body::<SiteRequest>()
            .answers::<NewSiteView>(201, "The site; its key is shown this once")
            .refuses(&[Conflict]),
        get("/api/sites/{id}", Read, "One site", sites::get).answers::<SiteView>(200, "The site"),
        get(
            "/api/site-calls",
            Read,
            "Cached calls and writes of sites, as they last told",
            sites::calls,
        )
        .params(&PAGING)
        .params(&[
            ("site", "the site's id"),
            (
                "status",
                "one or several, separated by commas: Submitted, Retrying, Delivered, Parked, Failed, Discarded",
            ),
            (
                "category",
                "ExternalSystem, CachedDbWrite or Notification (those that were parked at the site)",
            ),
            ("target", "the system, connection or list"),
            ("trackedOperationId", "the operation's id, with hyphens or without"),
            ("from", "accepted at the site at or after this time"),
            ("to", "accepted at the site before this time"),
        ])
        .pages::<SiteCallView>("A page"),
    ]
}

fn parked() -> Vec<Endpoint> {
    vec![
        get(
            "/api/sites/{id}/parked",
            Read,
            "What is parked at a site, from the site itself",
            sites::parked,
        )
        .params(&PAGING)
        .params(&[
            ("category", "ExternalSystem, Notification or CachedDbWrite"),
            ("target", "the list, system or connection"),
            ("errorCode", "what the last error begins with, up to its colon"),
            ("instance", "the instance it came from"),
            ("from", "parked at or after this time"),
            ("to", "parked before this time"),
            (
                "removed",
                "true: not what is parked, but what waits for a target the site no longer has; needs target",
            ),
        ])
        .answers::<ParkedPageView>(200, "A page")
        .refuses(&ASKED),
        post(
            "/api/sites/{id}/parked/retry",
            Operate,
            "Have a site try all parked messages of a filter again, or count them",
            sites::retry_many,
        )
        .body::<SiteBulkRequest>()
        .answers::<SiteCountAnswer>(200, "How many match, for a dry run")
        .answers::<JobView>(202, "The job; ask for its progress")
        .refuses(&ASKED),
        post(
            "/api/sites/{id}/parked/discard",
            Operate,
            "Have a site give up all parked messages of a filter, or count them",
            sites::discard_many,
        )
        .body::<SiteBulkRequest>()
        .answers::<SiteCountAnswer>(200, "How many match, for a dry run")
        .answers::<JobView>(202, "The job; ask for its progress")
        .refuses(&ASKED),
        post(
            "/api/sites/{id}/parked/{messageId}/retry",
            Operate,
            "Have a site try a parked message again",
            sites::retry,
        )
        .answers::<ParkedActedView>(200, "The site has put it back")
        .refuses(&[WrongState])
        .refuses(&ASKED),
        post(
            "/api/sites/{id}/parked/{messageId}/discard",
            Operate,
            "Have a site give a parked message up",
            sites::discard,
        )
        .answers::<ParkedActedView>(200, "The site has removed it")
        .refuses(&[WrongState])
        .refuses(&ASKED),
    ]
}

fn waiting() -> Vec<Endpoint> {
    vec![
        get(
            "/api/sites/{id}/waiting",
            Read,
            "What waits at a site, in the order of acceptance, from the site itself",
            site_waiting::list,
        )
        .params(&PAGING)
        .params(&[("category", "ExternalSystem, Notification or CachedDbWrite")])
        .answers::<SiteWaitingPageView>(200, "A page")
        .refuses(&ASKED),
        post(
            "/api/sites/{id}/waiting/{messageId}/try",
            Operate,
            "Have a site try a waiting message now; an attempt that takes longer than eight seconds goes on, and is Trying",
            site_waiting::try_now,
        )
        .answers::<SiteWaitingActedView>(200, "How it stands now")
        .refuses(&[WrongState])
        .refuses(&ASKED),
        post(
            "/api/sites/{id}/waiting/{messageId}/discard",
            Operate,
            "Have a site give a waiting message up",
            site_waiting::discard,
        )
        .answers::<SiteWaitingActedView>(200, "The site has removed it")
        .refuses(&[WrongState])
        .refuses(&ASKED),
    ]
}
