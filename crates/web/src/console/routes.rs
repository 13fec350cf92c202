//! Every page of the console: method, path, who may, and its handler. There is no other list.

use super::{
    account, audit, bulk, captured, download, events,
    guard::{self, Guard},
    jobs, keys, lists, live, loops, notification, notifications, oidc, overview, provider, provider_form,
    provider_test, providers, recipients, saved, send, sign_in, sites, suppressions, templates, tenants,
    theme, transcript, users,
};
use crate::{
    access::Access::{self, Administer, Open, Operate, Read, Replay, Submit, Tenants},
    state::Shared,
};
use axum::{
    handler::Handler,
    middleware,
    routing::{MethodFilter, MethodRouter, on},
};

/// One page or form.
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub access: Access,
    handler: MethodRouter<Shared>,
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({:?})", self.method, self.path, self.access)
    }
}

impl Route {
    /// The handler behind its guard.
    pub fn guarded(self, state: &Shared) -> MethodRouter<Shared> {
        let guard = Guard {
            state: state.clone(),
            access: self.access,
        };
        self.handler
            .route_layer(middleware::from_fn_with_state(guard, guard::guard))
    }
}

fn get<H: Handler<T, Shared>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route {
        method: "GET",
        path,
        access,
        handler: on(MethodFilter::GET, handler),
    }
}

fn post<H: Handler<T, Shared>, T: 'static>(path: &'static str, access: Access, handler: H) -> Route {
    Route {
        method: "POST",
        path,
        access,
        handler: on(MethodFilter::POST, handler),
    }
}

pub fn routes() -> Vec<Route> {
    [watching(), setting_up(), running(), signing_in()]
        .into_iter()
        .flatten()
        .collect()
}

fn watching() -> Vec<Route> {
    vec![
        get("/", Read, overview::page),
        get("/live", Read, live::stream),
        get("/notifications", Read, notifications::page),
        get("/notifications/rows", Read, notifications::rows),
        get("/notifications.csv", Read, notifications::csv),
        post("/notifications/views", Read, saved::keep),
        post("/notifications/views/forget", Read, saved::forget),
        get("/notifications/bulk", Replay, bulk::confirm),
        post("/notifications/bulk/go", Replay, bulk::go),
        get("/notifications/{id}", Read, notification::page),
        get("/notifications/{id}/attempts/{n}", Read, transcript::page),
        post("/notifications/{id}/retry", Replay, notification::retry),
        post("/notifications/{id}/discard", Operate, notification::discard),
        post("/notifications/{id}/try", Operate, notification::try_now),
        post("/notifications/{id}/cancel", Operate, notification::cancel),
        post("/notifications/{id}/resend", Operate, notification::resend),
        get("/events", Read, events::outbox::page),
        get("/events.csv", Read, events::outbox::csv),
        get("/events/replay", Replay, events::replay::confirm_events),
        post("/events/replay/go", Replay, events::replay::go_events),
        get("/events/{id}", Read, events::one::page),
        post("/events/{id}/replay", Replay, events::one::replay_event),
        post(
            "/events/{id}/schedule/replay",
            Replay,
            events::one::replay_schedule,
        ),
        get("/schedules", Read, events::schedules::page),
        get("/schedules.csv", Read, events::schedules::csv),
        get("/schedules/replay", Replay, events::replay::confirm_schedules),
        post("/schedules/replay/go", Replay, events::replay::go_schedules),
        get("/communications", Read, events::communications::page),
        get("/communications.csv", Read, events::communications::csv),
        post("/communications/resend", Administer, events::resend::resend),
        get("/jobs", Read, jobs::list),
        get("/jobs.csv", Read, download::csv::<jobs::Jobs>),
        get("/jobs/{id}", Read, jobs::page),
        post("/jobs/{id}/stop", Replay, jobs::stop),
        get("/sites", Read, sites::list::page),
        post("/sites", Administer, sites::list::register),
        get("/sites.csv", Read, download::csv::<sites::list::Sites>),
        get("/sites/{id}", Read, sites::one::page),
        get("/sites/{id}/calls/csv", Read, sites::csv::calls),
        get("/sites/{id}/parked/csv", Read, sites::csv::parked),
        post("/sites/{id}/parked/retry", Operate, sites::one::retry),
        post("/sites/{id}/parked/discard", Operate, sites::one::discard),
        get("/sites/{id}/parked/all", Operate, sites::all::confirm),
        post("/sites/{id}/parked/all/go", Operate, sites::all::go),
        post("/sites/{id}/waiting/try", Operate, sites::waiting::try_now),
        post("/sites/{id}/waiting/discard", Operate, sites::waiting::discard),
        get("/audit", Read, audit::page),
        get("/audit.csv", Read, audit::csv),
        get("/loops", Read, loops::page),
        get("/loops.csv", Read, download::csv::<loops::Loops>),
    ]
}

fn setting_up() -> Vec<Route> {
    vec![
        get("/send", Submit, send::page),
        post("/send", Submit, send::send),
        get("/providers", Read, providers::page),
        get("/providers.csv", Read, download::csv::<providers::Providers>),
        get("/providers/new", Administer, provider_form::new),
        post("/providers/new", Administer, provider_form::create),
        get("/providers/{id}", Read, provider::page),
        get("/providers/{id}/edit", Administer, provider_form::edit),
        post("/providers/{id}/edit", Administer, provider_form::replace),
        post("/providers/{id}/test", Operate, provider_test::test),
        get("/providers/{id}/tests/{test}", Operate, provider_test::page),
        get("/providers/{id}/captured", Read, captured::page),
        get("/providers/{id}/captured/csv", Read, captured::csv),
        post("/providers/{id}/callback", Administer, provider::callback),
        post("/channels/{type}/failover", Administer, providers::failover),
        post("/providers/{id}/hold", Operate, provider::hold),
        post("/providers/{id}/resume", Operate, provider::resume),
        post("/providers/{id}/try", Operate, provider::try_now),
        post("/providers/{id}/delete", Administer, provider::delete),
        get("/lists", Read, lists::page),
        post("/lists", Administer, lists::create),
        get("/lists.csv", Read, download::csv::<lists::Everybody>),
        get("/lists/{name}", Read, recipients::page),
        get("/lists/{name}/csv", Read, recipients::csv),
        post("/lists/{name}/add", Administer, recipients::add),
        post("/lists/{name}/change", Administer, recipients::change),
        post("/lists/{name}/delete", Administer, recipients::delete),
        get("/suppressions", Read, suppressions::page),
        get("/suppressions.csv", Read, suppressions::csv),
        post("/suppressions", Operate, suppressions::add),
        post("/suppressions/{id}/remove", Operate, suppressions::remove),
        get("/templates", Read, templates::list::page),
        get(
            "/templates.csv",
            Read,
            download::csv::<templates::list::Templates>,
        ),
        get("/templates/new", Administer, templates::editor::new),
        post("/templates/new", Administer, templates::editor::create),
        post("/templates/preview", Read, templates::editor::preview),
        get("/templates/{id}", Read, templates::editor::page),
        post("/templates/{id}", Administer, templates::editor::save),
        post("/templates/{id}/test", Operate, templates::editor::test),
        post("/templates/{id}/delete", Administer, templates::editor::delete),
        get(
            "/templates/{id}/versions/{version}",
            Read,
            templates::version::page,
        ),
    ]
}

fn running() -> Vec<Route> {
    vec![
        get("/keys", Administer, keys::page),
        get("/keys.csv", Administer, download::csv::<keys::Keys>),
        post("/keys", Administer, keys::create),
        post("/keys/{id}/revoke", Administer, keys::revoke),
        get("/users", Administer, users::page),
        get("/users.csv", Administer, download::csv::<users::Users>),
        post("/users", Administer, users::create),
        get("/users/{id}", Administer, users::one),
        post("/users/{id}/role", Administer, users::role),
        post("/users/{id}/password", Administer, users::password),
        post("/users/{id}/disable", Administer, users::disable),
        post("/users/{id}/link", Administer, users::link),
        get("/tenants", Tenants, tenants::page),
        get("/tenants.csv", Tenants, download::csv::<tenants::Tenants>),
        post("/tenants", Tenants, tenants::create),
        get("/tenants/delete", Tenants, tenants::ask_delete),
        post("/tenants/delete", Tenants, tenants::delete),
    ]
}

fn signing_in() -> Vec<Route> {
    vec![
        get("/sign-in", Open, sign_in::page),
        post("/sign-in", Open, sign_in::sign_in),
        get("/sign-in/link/{token}", Open, sign_in::link_page),
        post("/sign-in/link/{token}", Open, sign_in::link),
        get("/sign-in/openid", Open, oidc::start),
        get("/sign-in/openid/back", Open, oidc::back),
        post("/sign-out", Read, sign_in::sign_out),
        post("/tenant", Read, tenants::choose),
        post("/theme", Read, theme::choose),
        get("/account", Read, account::page),
        post("/account/password", Read, account::password),
    ]
}
