//! Every route of the API: path, who may, what it takes and answers. This table is the router and the OpenAPI
//! document; there is no other list of routes and no other list of who may do what.

use crate::{
    access::Access::{Administer, Open, Operate, Read, Replay, Status, Submit, Tenants},
    api::{
        actions, audit, batch, callbacks, events, health, jobs, keys, kpis, lanes, lists, metrics,
        notifications, providers, recipients, schedules, sites, stream, submit, suppressions,
        template_previews, templates, tenants, transcripts, unsubscribe, users,
    },
    docs,
    dto::{
        audit::AuditView,
        captured::CapturedView,
        communication::{CommunicationLog, EntityResendRequest, ResendEntityAnswer},
        event::{EventAnswer, EventRequest, EventView},
        event_type::{EventTypeRequest, EventTypeView},
        filter::{self, BulkRequest},
        job::{DryRunAnswer, JobView},
        key::{KeyRequest, KeyView, NewKeyView},
        kpi::{KpiView, SiteKpiView},
        lane::{LaneView, LoopView},
        list::{EntryRequest, EntryView, ListRequest, ListView},
        notification::{ActedAnswer, Notification, ReasonRequest, ResendRequest, StatusAnswer},
        page::NotificationPage,
        provider::{
            HoldRequest, KindView, ProviderRequest, ProviderView, TestAnswer, TestRequest, TriedAnswer,
        },
        schedule::{AutomationSchedule, ReplayAnswer, ReplayBody},
        site::{NewSiteView, ParkedActedView, ParkedPageView, SiteCallView, SiteRequest, SiteView},
        site_bulk::{SiteBulkRequest, SiteCountAnswer},
        submit::{BatchAnswer, BatchRequest, ResendAnswer, SubmitAnswer, SubmitRequest},
        suppression::{SuppressionRequest, SuppressionView},
        template::{
            TemplateRequest, TemplateRowView, TemplateSettingsView, TemplateVersionView, TemplateView,
        },
        template_preview::{
            PreviewAnswer, PreviewRequest, TemplateTestAnswer, TemplateTestRequest, UnsavedPreviewRequest,
        },
        tenant::{NewTenantView, TenantRequest, TenantView},
        transcript::AttemptTranscript,
        user::{LinkView, UserChange, UserRequest, UserView},
    },
    endpoint::{Endpoint, Param, delete, get, post, put},
    openapi,
    problem::Code::{
        Conflict, SiteFailed, SiteNoAnswer, SiteOffline, TooMany, Unavailable, ValidationFailed, WrongState,
    },
};

/// Every route there is.
pub fn all() -> Vec<Endpoint> {
    [
        notification_routes(),
        bulk_routes(),
        figure_routes(),
        list_routes(),
        provider_routes(),
        template_routes(),
        event_routes(),
        ops_routes(),
        suppression_routes(),
        site_routes(),
        admin_routes(),
        system_routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const PAGING: [Param; 2] = [
    ("limit", "rows in a page, 1 to 1000; 100 if left out"),
    ("cursor", "nextCursor of the page before"),
];

fn notification_routes() -> Vec<Endpoint> {
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

fn bulk_routes() -> Vec<Endpoint> {
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
            Operate,
            "Stop a bulk action; what was done stays done",
            jobs::stop,
        )
        .answers::<JobView>(200, "The job as it ended"),
    ]
}

fn figure_routes() -> Vec<Endpoint> {
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
                ("kind", "NotifySend, NotifyDeliver, …"),
                ("status", "Submitted, Attempted, Delivered, …"),
                ("actor", "system, key:NAME, user:NAME, site:ID"),
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

fn list_routes() -> Vec<Endpoint> {
    vec![
        get("/api/lists", Read, "Notification lists", lists::list)
            .params(&PAGING)
            .pages::<ListView>("A page"),
        post("/api/lists", Administer, "Make a list", lists::create)
            .body::<ListRequest>()
            .answers::<ListView>(201, "The list")
            .refuses(&[Conflict]),
        get("/api/lists/{name}", Read, "One list", lists::get).answers::<ListView>(200, "The list"),
        put("/api/lists/{name}", Administer, "Replace a list", lists::replace)
            .body::<ListRequest>()
            .answers::<ListView>(200, "The list"),
        delete("/api/lists/{name}", Administer, "Remove a list", lists::delete).empty("It is gone"),
        get(
            "/api/lists/{name}/recipients",
            Read,
            "Who is on a list",
            recipients::list,
        )
        .params(&PAGING)
        .pages::<EntryView>("A page"),
        post(
            "/api/lists/{name}/recipients",
            Administer,
            "Put somebody on a list",
            recipients::add,
        )
        .body::<EntryRequest>()
        .answers::<EntryView>(201, "The entry")
        .refuses(&[Conflict]),
        put(
            "/api/lists/{name}/recipients/{address}",
            Administer,
            "Replace an entry of a list",
            recipients::replace,
        )
        .params(&[("type", "which, if the address is on the list for several types")])
        .body::<EntryRequest>()
        .answers::<EntryView>(200, "The entry"),
        delete(
            "/api/lists/{name}/recipients/{address}",
            Administer,
            "Take somebody off a list",
            recipients::remove,
        )
        .params(&[("type", "which, if the address is on the list for several types")])
        .empty("It is gone"),
    ]
}

fn provider_routes() -> Vec<Endpoint> {
    vec![
        get(
            "/api/provider-kinds",
            Read,
            "Kinds of provider and their settings",
            providers::kinds,
        )
        .pages::<KindView>("All of them"),
        get("/api/providers", Read, "Providers", providers::list)
            .params(&PAGING)
            .pages::<ProviderView>("A page"),
        post(
            "/api/providers",
            Administer,
            "Set a provider up",
            providers::create,
        )
        .body::<ProviderRequest>()
        .answers::<ProviderView>(201, "The provider")
        .refuses(&[Conflict]),
        get("/api/providers/{id}", Read, "One provider", providers::get)
            .answers::<ProviderView>(200, "The provider"),
        put(
            "/api/providers/{id}",
            Administer,
            "Replace a provider's settings",
            providers::replace,
        )
        .body::<ProviderRequest>()
        .answers::<ProviderView>(200, "The provider")
        .refuses(&[Conflict]),
        delete(
            "/api/providers/{id}",
            Administer,
            "Remove a provider that nothing waits for",
            providers::delete,
        )
        .empty("It is gone")
        .refuses(&[Conflict]),
        post(
            "/api/providers/{id}/test",
            Operate,
            "Send one test message now",
            providers::test,
        )
        .optional_body::<TestRequest>()
        .answers::<TestAnswer>(200, "What the far end said"),
        post(
            "/api/providers/{id}/callback",
            Administer,
            "Make a new secret address for receipts; the one before stops working",
            callbacks::create,
        )
        .refuses(&[Conflict])
        .answers::<callbacks::CallbackView>(200, "The address, shown this once"),
        get(
            "/api/providers/{id}/captured",
            Read,
            "What a capture provider kept on this node, newest first",
            providers::captured,
        )
        .params(&PAGING)
        .pages::<CapturedView>("A page")
        .refuses(&[Conflict]),
        post(
            "/api/providers/{id}/hold",
            Operate,
            "Stop a provider; its notifications wait",
            providers::hold,
        )
        .optional_body::<HoldRequest>()
        .refuses(&[Conflict])
        .answers::<ProviderView>(200, "The provider"),
        post(
            "/api/providers/{id}/try",
            Operate,
            "Try a provider now: a pause ends, a held one is probed, what waits for another attempt is due",
            providers::try_now,
        )
        .refuses(&[Conflict])
        .answers::<TriedAnswer>(200, "How much was moved"),
        post(
            "/api/providers/{id}/resume",
            Operate,
            "Let a held provider go on; one that is switched off goes on when it is switched on",
            providers::resume,
        )
        .refuses(&[Conflict])
        .answers::<ProviderView>(200, "The provider"),
    ]
}

fn template_routes() -> Vec<Endpoint> {
    vec![
        get("/api/message-templates", Read, "Templates", templates::list)
            .params(&[
                ("eventType", "of this event type"),
                ("channel", "Email, WhatsApp, …"),
                ("active", "true or false"),
                ("deleted", "true: those that were deleted"),
            ])
            .params(&PAGING)
            .pages::<TemplateRowView>("A page, without what they say"),
        post(
            "/api/message-templates",
            Administer,
            "Make a template",
            templates::create,
        )
        .body::<TemplateRequest>()
        .answers::<TemplateView>(201, "The template, and what is odd about it")
        .refuses(&[Conflict]),
        get(
            "/api/message-templates/{id}",
            Read,
            "One template, also one that was deleted",
            templates::get,
        )
        .answers::<TemplateView>(200, "The template"),
        put(
            "/api/message-templates/{id}",
            Administer,
            "Save a new version of a template",
            templates::replace,
        )
        .body::<TemplateRequest>()
        .answers::<TemplateView>(200, "The template, and what is odd about it")
        .refuses(&[Conflict]),
        delete(
            "/api/message-templates/{id}",
            Administer,
            "Remove a template; its versions stay readable",
            templates::delete,
        )
        .empty("It serves nothing any more"),
        get(
            "/api/message-templates/{id}/versions",
            Read,
            "The versions of a template",
            templates::versions,
        )
        .pages::<TemplateVersionView>("Newest first, at most 1,000"),
        get(
            "/api/message-templates/{id}/versions/{version}",
            Read,
            "A template as it was in a version",
            templates::version,
        )
        .answers::<TemplateView>(200, "The template"),
        post(
            "/api/message-templates/preview",
            Read,
            "Fill in a template that is not saved",
            template_previews::unsaved,
        )
        .body::<UnsavedPreviewRequest>()
        .answers::<PreviewAnswer>(200, "What a message would say"),
        post(
            "/api/message-templates/{id}/preview",
            Read,
            "Fill in a template",
            template_previews::saved,
        )
        .optional_body::<PreviewRequest>()
        .answers::<PreviewAnswer>(200, "What a message would say"),
        post(
            "/api/message-templates/{id}/test",
            Operate,
            "Send one message of a template to an address of one's own",
            template_previews::test,
        )
        .optional_body::<TemplateTestRequest>()
        .answers::<TemplateTestAnswer>(202, "It is on its way"),
        get(
            "/api/message-templates/settings",
            Read,
            "How templates show dates where they do not say it themselves",
            templates::settings,
        )
        .answers::<TemplateSettingsView>(200, "The settings"),
        put(
            "/api/message-templates/settings",
            Administer,
            "Change that",
            templates::put_settings,
        )
        .body::<TemplateSettingsView>()
        .answers::<TemplateSettingsView>(200, "The settings"),
    ]
}

const ENTITY: [Param; 3] = [
    ("bookingId", "means entityType=booking and entityId=this"),
    ("entityType", "what sort of thing, together with entityId"),
    ("entityId", "which one"),
];

const EVENTS: [Param; 5] = [
    ("status", "Pending, Published, Failed or Deferred"),
    ("eventType", "the name of the event"),
    ("entityId", "what it happened to"),
    ("from", "created at or after this time"),
    ("to", "created before this time"),
];

const TENANT: [Param; 1] = [("tenantId", "only of this tenant: its name or number")];

fn event_routes() -> Vec<Endpoint> {
    vec![
        post(
            "/api/events",
            Submit,
            "Tell that something happened",
            events::emit,
        )
        .body::<EventRequest>()
        .answers::<EventAnswer>(202, "It is stored"),
        get("/api/events", Read, "Events, newest first", events::list)
            .params(&EVENTS)
            .params(&PAGING)
            .pages::<EventView>("A page"),
        get(
            "/api/events/{id}",
            Read,
            "One event with its payload",
            events::get,
        )
        .answers::<EventView>(200, "The event"),
        post(
            "/api/events/{id}/replay",
            Replay,
            "Have an event worked on again that is Failed or Deferred",
            events::replay,
        )
        .empty("It is due")
        .refuses(&[Conflict]),
        get("/api/event-types", Read, "Types of events", events::types)
            .params(&PAGING)
            .pages::<EventTypeView>("A page"),
        get(
            "/api/event-types/{name}",
            Read,
            "One type of event",
            events::get_type,
        )
        .answers::<EventTypeView>(200, "What is said about it"),
        put(
            "/api/event-types/{name}",
            Administer,
            "Say what follows from events of a name",
            events::put_type,
        )
        .body::<EventTypeRequest>()
        .answers::<EventTypeView>(200, "What is said about it"),
        delete(
            "/api/event-types/{name}",
            Administer,
            "Forget a type of event; new events of it are deferred",
            events::delete_type,
        )
        .empty("It is gone"),
        get(
            "/api/automation-schedules",
            Read,
            "What events became, newest first",
            schedules::list,
        )
        .params(&ENTITY)
        .params(&[("status", "Pending, Published, Completed, Failed or Cancelled")])
        .params(&PAGING)
        .pages::<AutomationSchedule>("A page"),
        post(
            "/api/automation-schedules/{id}/replay",
            Replay,
            "Requeue what is parked of a schedule and create what is missing",
            schedules::replay,
        )
        .optional_body::<ReplayBody>()
        .answers::<ReplayAnswer>(200, "What was done")
        .refuses(&[Conflict]),
        get(
            "/api/communication-logs",
            Read,
            "Everything sent about one entity, and what was not",
            schedules::communications,
        )
        .params(&ENTITY)
        .params(&PAGING)
        .pages::<CommunicationLog>("A page"),
        post(
            "/api/bookings/{id}/resend-notification",
            Administer,
            "Send a booking's message once more",
            schedules::resend_booking,
        )
        .body::<EntityResendRequest>()
        .answers::<ResendEntityAnswer>(202, "New notifications; what was sent before stays")
        .refuses(&[Conflict]),
        post(
            "/api/entities/{type}/{id}/resend-notification",
            Administer,
            "Send an entity's message once more",
            schedules::resend_entity,
        )
        .body::<EntityResendRequest>()
        .answers::<ResendEntityAnswer>(202, "New notifications; what was sent before stays")
        .refuses(&[Conflict]),
    ]
}

fn ops_routes() -> Vec<Endpoint> {
    vec![
        get(
            "/ops/outbox",
            Tenants,
            "Events of all tenants, also of those there are not",
            schedules::outbox,
        )
        .params(&TENANT)
        .params(&EVENTS)
        .params(&PAGING)
        .pages::<EventView>("A page"),
        post(
            "/ops/outbox/{id}/replay",
            Tenants,
            "Have a Failed or Deferred event worked on again",
            schedules::replay_event,
        )
        .params(&TENANT)
        .empty("It is due")
        .refuses(&[Conflict]),
        post(
            "/ops/schedules/{id}/replay",
            Tenants,
            "Requeue what is parked of a schedule and create what is missing",
            schedules::replay_for_ops,
        )
        .params(&TENANT)
        .optional_body::<ReplayBody>()
        .answers::<ReplayAnswer>(200, "What was done")
        .refuses(&[Conflict]),
    ]
}

fn suppression_routes() -> Vec<Endpoint> {
    vec![
        get(
            "/api/suppressions",
            Read,
            "Who must not be written to, newest first",
            suppressions::list,
        )
        .params(&[
            ("address", "entries of this address, in any spelling"),
            ("channel", "entries for this channel alone"),
        ])
        .params(&PAGING)
        .pages::<SuppressionView>("A page"),
        post(
            "/api/suppressions",
            Operate,
            "Send nothing to an address any more",
            suppressions::add,
        )
        .body::<SuppressionRequest>()
        .answers::<SuppressionView>(201, "The entry")
        .answers::<SuppressionView>(200, "There was such an entry already"),
        delete(
            "/api/suppressions/{id}",
            Operate,
            "Let an address be written to again",
            suppressions::remove,
        )
        .empty("It is gone"),
    ]
}

/// A site is asked over its link; when it is not there, or does not answer, these say so.
const ASKED: [crate::problem::Code; 3] = [SiteOffline, SiteNoAnswer, SiteFailed];

fn site_routes() -> Vec<Endpoint> {
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

fn admin_routes() -> Vec<Endpoint> {
    vec![
        get("/api/keys", Administer, "API keys", keys::list)
            .params(&PAGING)
            .pages::<KeyView>("A page"),
        post("/api/keys", Administer, "Make an API key", keys::create)
            .body::<KeyRequest>()
            .answers::<NewKeyView>(201, "The key; its text is shown this once")
            .refuses(&[Conflict]),
        delete("/api/keys/{id}", Administer, "Revoke an API key", keys::revoke).empty("It no longer works"),
        get("/api/users", Administer, "Users of the console", users::list)
            .params(&PAGING)
            .pages::<UserView>("A page"),
        post("/api/users", Administer, "Add a user", users::create)
            .body::<UserRequest>()
            .answers::<UserView>(201, "The user")
            .refuses(&[Conflict]),
        get("/api/users/{id}", Administer, "One user", users::get).answers::<UserView>(200, "The user"),
        put(
            "/api/users/{id}",
            Administer,
            "Change a user's role, password or access",
            users::change,
        )
        .body::<UserChange>()
        .answers::<UserView>(200, "The user")
        .refuses(&[Conflict]),
        delete(
            "/api/users/{id}",
            Administer,
            "Take a user's role in the tenant away",
            users::remove,
        )
        .empty("They may do nothing here any more")
        .refuses(&[Conflict]),
        post(
            "/api/users/{id}/link",
            Administer,
            "Make a link that signs a user in once",
            users::link,
        )
        .answers::<LinkView>(201, "The link; shown this once")
        .refuses(&[ValidationFailed]),
        get("/api/tenants", Tenants, "Tenants", tenants::list)
            .params(&PAGING)
            .pages::<TenantView>("A page"),
        post(
            "/api/tenants",
            Tenants,
            "Make a tenant, and its first key if asked",
            tenants::create,
        )
        .body::<TenantRequest>()
        .answers::<NewTenantView>(201, "The tenant")
        .refuses(&[Conflict]),
        delete(
            "/api/tenants/{name}",
            Tenants,
            "Remove a tenant on which nothing hangs: no provider, nothing waiting or parked",
            tenants::remove,
        )
        .empty("It is gone; what it sent stays until it is purged")
        .refuses(&[Conflict]),
    ]
}

fn system_routes() -> Vec<Endpoint> {
    vec![
        get("/healthz", Open, "Whether the process answers", health::alive)
            .answers::<health::Alive>(200, "It does"),
        get("/readyz", Open, "Whether it can take work", health::ready)
            .answers::<health::Ready>(200, "It can")
            .answers::<health::Ready>(503, "It cannot, and why"),
        get("/metrics", Open, "Figures for Prometheus", metrics::scrape).answers_as(
            200,
            "text/plain",
            "Prometheus text",
        ),
        get(
            "/unsubscribe/{token}",
            Open,
            "The page behind a mail's unsubscribe link; it only asks",
            unsubscribe::page,
        )
        .answers_as(200, "text/html", "A page")
        .answers_as(404, "text/html", "The link is none of ours"),
        post(
            "/unsubscribe/{token}",
            Open,
            "Send no more mail to the address of the link (RFC 8058)",
            unsubscribe::act,
        )
        .answers_as(200, "text/html", "A page")
        .answers_as(404, "text/html", "The link is none of ours")
        .refuses(&[Unavailable]),
        get("/openapi.json", Open, "This document", openapi::serve).answers_as(
            200,
            "application/json",
            "OpenAPI 3.1",
        ),
        get("/docs", Open, "This document for people", docs::page).answers_as(200, "text/html", "A page"),
        get("/docs.css", Open, "How that page looks", docs::style).answers_as(
            200,
            "text/css",
            "A style sheet",
        ),
    ]
}
