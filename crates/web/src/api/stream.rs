//! Live events for one tenant: what changed, and the figures every few seconds.
//!
//! Always true: a stream ends when the server stops and soon after its key is revoked; a listener that cannot keep
//! up is told how much it missed; the figures are counted once for all who listen.

use crate::{
    auth::{Caller, bearer},
    dto::{
        kpi::KpiView,
        names::{Id, StatusName},
    },
    problem::Result,
    state::Shared,
    streams::Place,
};
use axum::{
    extract::State,
    http::HeaderMap,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use central::changes::News;
use domain::{NotificationId, Status, TenantId};
use futures_util::stream;
use serde::Serialize;
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Interval, MissedTickBehavior, interval},
};
use utoipa::ToSchema;

/// How often the figures are sent.
const KPIS_EVERY: Duration = Duration::from_secs(5);

/// The data of a `change` event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeView {
    #[schema(value_type = Id)]
    pub notification_id: NotificationId,
    #[schema(value_type = StatusName)]
    pub status: Status,
    pub error_code: Option<String>,
}

/// The data of a `missed` event: so many changes were not shown.
#[derive(Debug, Serialize)]
struct Missed {
    changes: u64,
}

/// By what a listener was let in; asked again now and then.
#[derive(Debug)]
pub enum Welcome {
    Key(Arc<str>),
    Session { token: Arc<str>, tenant: TenantId },
}

#[derive(Debug)]
pub struct Live {
    state: Shared,
    tenant: TenantId,
    welcome: Welcome,
    changes: Receiver<News>,
    tick: Interval,
    _place: Place,
}

pub async fn live(State(state): State<Shared>, caller: Caller, headers: HeaderMap) -> Result<Response> {
    let key = bearer(&headers).unwrap_or_default().into();
    Live::open(state, caller.tenant, Welcome::Key(key))
}

impl Live {
    /// The stream of one tenant, as long as its listener is welcome; refused when there are too many.
    pub fn open(state: Shared, tenant: TenantId, welcome: Welcome) -> Result<Response> {
        let (Welcome::Key(listener) | Welcome::Session { token: listener, .. }) = &welcome;
        let place = state.streams.enter(tenant, listener)?;
        let mut tick = interval(KPIS_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let live = Live {
            tenant,
            welcome,
            changes: state.central.changes.subscribe(),
            tick,
            _place: place,
            state,
        };
        let events = stream::unfold(live, |mut live| async move {
            let event = live.next().await?;
            Some((Ok::<_, Infallible>(event), live))
        });
        let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
        // Proxies that buffer would turn "live" into "at the end".
        response
            .headers_mut()
            .insert("x-accel-buffering", axum::http::HeaderValue::from_static("no"));
        Ok(response)
    }

    /// The next event; none ends the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            tokio::select! {
                biased;
                () = self.state.stop.cancelled() => return None,
                _ = self.tick.tick() => {
                    if !self.still_welcome().await {
                        return None;
                    }
                    if let Some(event) = self.kpis().await {
                        return Some(event);
                    }
                }
                change = self.changes.recv() => match change {
                    Ok(News::Change(change)) if change.tenant == self.tenant => return event("change", &ChangeView {
                        notification_id: change.id,
                        status: change.status,
                        error_code: change.code,
                    }),
                    Ok(News::Change(_)) => {}
                    Ok(News::Missed(changes)) | Err(RecvError::Lagged(changes)) => return event("missed", &Missed { changes }),
                    Err(RecvError::Closed) => return None,
                },
            }
        }
    }

    /// While the store cannot be asked, the answer stays what it was.
    async fn still_welcome(&self) -> bool {
        match &self.welcome {
            Welcome::Key(key) => !matches!(self.state.central.keys.authenticate(key).await, Ok(None)),
            Welcome::Session { token, tenant } => match self.state.central.users.session(token).await {
                Ok(Some((session, _))) => session.tenant == *tenant,
                Ok(None) => false,
                Err(_) => true,
            },
        }
    }

    async fn kpis(&self) -> Option<Event> {
        let kpis = self.state.central.watched_kpis.get(Some(self.tenant)).await?;
        event("kpis", &KpiView::from(kpis))
    }
}

fn event(name: &str, data: &impl Serialize) -> Option<Event> {
    Event::default().event(name).json_data(data).ok()
}
