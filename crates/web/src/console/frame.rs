//! What is around every page: navigation, whose tenant it is, who is looking, and the sentence of the last form.

use super::{
    assets::{ADDRESSES, Addresses},
    flash::Flash,
    guard::Signed,
    once::Once,
    request::RequestId,
    show::{Coming, Lasting, When},
    theme::Theme,
};
use crate::{
    access::Access,
    problem::{Problem, Result},
    state::Shared,
};
use askama::Template;
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use domain::{TenantId, Timestamp, Zone};
use store::directory::Role;

/// Which entry of the navigation a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nav {
    Overview,
    Notifications,
    Events,
    Send,
    Sites,
    Providers,
    Lists,
    Templates,
    Suppressions,
    Audit,
    Jobs,
    Loops,
    Keys,
    Users,
    Tenants,
    Account,
    None,
}

/// One entry of the navigation.
#[derive(Debug)]
pub struct Entry {
    pub nav: Nav,
    pub place: &'static str,
    pub name: &'static str,
    access: Access,
}

const ENTRIES: [(&str, &[Entry]); 3] = [
    (
        "Watch",
        &[
            entry(Nav::Overview, "/", "Overview", Access::Read),
            entry(
                Nav::Notifications,
                "/notifications",
                "Notifications",
                Access::Read,
            ),
            entry(Nav::Events, "/events", "Events", Access::Read),
            entry(Nav::Sites, "/sites", "Sites", Access::Read),
            entry(Nav::Jobs, "/jobs", "Bulk actions", Access::Read),
            entry(Nav::Audit, "/audit", "Audit log", Access::Read),
        ],
    ),
    (
        "Set up",
        &[
            entry(Nav::Send, "/send", "Send a message", Access::Submit),
            entry(Nav::Providers, "/providers", "Providers", Access::Read),
            entry(Nav::Lists, "/lists", "Lists", Access::Read),
            entry(Nav::Templates, "/templates", "Templates", Access::Read),
            entry(Nav::Suppressions, "/suppressions", "Suppressions", Access::Read),
        ],
    ),
    (
        "Run",
        &[
            entry(Nav::Keys, "/keys", "API keys", Access::Administer),
            entry(Nav::Users, "/users", "Users", Access::Administer),
            entry(Nav::Tenants, "/tenants", "Tenants", Access::Tenants),
            entry(Nav::Loops, "/loops", "Background loops", Access::Read),
        ],
    ),
];

const fn entry(nav: Nav, place: &'static str, name: &'static str, access: Access) -> Entry {
    Entry {
        nav,
        place,
        name,
        access,
    }
}

/// Everything the layout needs.
#[derive(Debug)]
pub struct Frame {
    pub title: String,
    pub nav: Nav,
    pub assets: &'static Addresses,
    pub user: String,
    pub role: Role,
    pub tenant: TenantId,
    pub tenant_name: String,
    /// The tenants to choose from; empty when there is only one.
    pub tenants: Vec<(TenantId, String)>,
    pub csrf: String,
    pub theme: Theme,
    /// The viewer's.
    pub zone: Zone,
    /// How many are parked, unless the figures cannot be read; the title tells it.
    pub parked: Option<u64>,
    pub flash: Option<Flash>,
    /// A secret that this page shows, once.
    pub once: Option<Once>,
    /// The page itself, to come back to.
    pub place: String,
    pub now: Timestamp,
    /// Seconds after which the page loads itself again without script.
    pub refresh: Option<u32>,
    /// Whether the page wants to hear of changes.
    pub live: bool,
    /// Whether it only wants to hear that central is there, and how much is parked.
    pub watched: bool,
}

impl Frame {
    pub async fn new(state: &Shared, signed: &Signed, title: impl Into<String>, nav: Nav) -> Result<Self> {
        let all = state.central.store.tenants().await?;
        let tenant = signed.caller.tenant;
        let name = |id: TenantId| all.iter().find(|t| t.id == id).map(|t| t.name.clone());
        let tenant_name = name(tenant).ok_or_else(|| Problem::not_found("tenant"))?;
        let mut tenants: Vec<_> = all
            .iter()
            .filter(|t| signed.user.role_in(t.id).is_some())
            .map(|t| (t.id, t.name.clone()))
            .collect();
        if tenants.len() < 2 {
            tenants.clear();
        }
        let figures = state.central.watched_kpis.get(Some(tenant)).await;
        Ok(Self {
            title: title.into(),
            nav,
            assets: &ADDRESSES,
            user: signed.user.name.clone(),
            role: signed.caller.role,
            tenant,
            tenant_name,
            tenants,
            csrf: signed.session.csrf.clone(),
            theme: signed.theme,
            zone: signed.zone.clone(),
            // What is shown after an action of one's own is not from before it.
            parked: figures
                .filter(|_| signed.flash.is_none())
                .map(|kpis| kpis.parked_count),
            flash: signed.flash.clone(),
            once: signed.once.clone(),
            place: signed.place.clone(),
            now: state.central.clock.now(),
            refresh: None,
            live: false,
            watched: false,
        })
    }

    /// For a form that must not be obeyed twice.
    pub fn request(&self) -> RequestId {
        RequestId::mint()
    }

    /// Hears of changes as they happen.
    pub fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// Hears that central is gone and how much is parked; its rows stay as they were.
    pub fn watched(mut self) -> Self {
        self.watched = true;
        self
    }

    /// The navigation as far as the role goes.
    pub fn menu(&self) -> Vec<(&'static str, Vec<&'static Entry>)> {
        let mut menu = vec![];
        for (name, entries) in &ENTRIES {
            let seen: Vec<_> = entries.iter().filter(|e| e.access.allows(self.role)).collect();
            if !seen.is_empty() {
                menu.push((*name, seen));
            }
        }
        menu
    }

    pub fn may_submit(&self) -> bool {
        Access::Submit.allows(self.role)
    }

    pub fn may_replay(&self) -> bool {
        Access::Replay.allows(self.role)
    }

    pub fn may_operate(&self) -> bool {
        Access::Operate.allows(self.role)
    }

    pub fn may_administer(&self) -> bool {
        Access::Administer.allows(self.role)
    }

    /// "5 min ago", with the exact time beside it.
    pub fn when(&self, at: &Timestamp) -> When<'_> {
        When {
            at: *at,
            now: self.now,
            zone: &self.zone,
        }
    }

    /// "for 5 min", with the moment it began beside it.
    pub fn lasting(&self, since: &Timestamp) -> Lasting<'_> {
        Lasting(self.when(since))
    }

    /// "in 5 min", and "now" from then on.
    pub fn coming(&self, at: &Timestamp) -> Coming<'_> {
        Coming(self.when(at))
    }
}

/// A page, whole. A sentence that was shown is not shown again.
pub fn page(state: &Shared, frame_had_flash: bool, status: StatusCode, page: &impl Template) -> Response {
    let text = match page.render() {
        Ok(text) => text,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a page could not be rendered"
            );
            return super::failure::Trouble(Problem::internal()).into_bare();
        }
    };
    let mut response = (status, Html(text)).into_response();
    if frame_had_flash {
        Flash::forget(response.headers_mut(), &state.console);
    }
    response
}

/// What every page struct can do.
pub trait Framed: Template + Sized {
    fn frame(&self) -> &Frame;

    fn show(&self, state: &Shared) -> Response {
        self.show_as(state, StatusCode::OK)
    }

    fn show_as(&self, state: &Shared, status: StatusCode) -> Response {
        let frame = self.frame();
        let mut response = page(state, frame.flash.is_some(), status, self);
        if frame.once.is_some() {
            Once::forget(response.headers_mut(), &state.console);
        }
        response
    }
}

macro_rules! framed {
    ($($page:ty),* $(,)?) => {$(
        impl $crate::console::frame::Framed for $page {
            fn frame(&self) -> &$crate::console::frame::Frame {
                &self.frame
            }
        }
    )*};
}
pub(super) use framed;
