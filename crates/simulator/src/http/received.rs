//! What the receiver was sent: the last requests in full, and counts of everything.

use axum::{
    body::to_bytes,
    extract::Request,
    http::{HeaderMap, Method},
};
use bytes::Bytes;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::sync::watch;

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: Method,
    pub path: String,
    pub query: Option<String>,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The header `webhook-id`.
    pub id: Option<String>,
    pub at: Instant,
    /// When the far end was done with it: it answers then, if it does.
    pub done_at: Instant,
    /// Whether the far end has done what was asked.
    pub taken: bool,
}

impl Received {
    pub(super) async fn read(request: Request, longest: usize) -> Option<Self> {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, longest).await.ok()?;
        let at = Instant::now();
        Some(Self {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().map(str::to_owned),
            id: parts
                .headers
                .get("webhook-id")
                .and_then(|v| v.to_str().ok())
                .map(str::to_owned),
            headers: parts.headers,
            body,
            at,
            done_at: at,
            taken: false,
        })
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }

    /// The body as JSON; `Null` if it is not.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Totals since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HttpCounts {
    pub connections: u64,
    pub requests: u64,
    /// Requests that have come in, also those whose answer is still being delayed.
    pub arrived: u64,
    /// Requests that the far end has taken.
    pub taken: u64,
    /// Requests taken under a `webhook-id` that had been taken already.
    pub repeats: u64,
}

#[derive(Debug)]
pub(crate) struct RequestLog {
    keep: usize,
    keep_ids: usize,
    held: Mutex<KeptRequests>,
    counts: watch::Sender<HttpCounts>,
}

#[derive(Debug, Default)]
struct KeptRequests {
    requests: VecDeque<Received>,
    by_id: HashMap<String, u32>,
}

impl RequestLog {
    pub fn new(keep: usize, keep_ids: usize) -> Self {
        Self {
            keep,
            keep_ids,
            held: Mutex::default(),
            counts: watch::Sender::new(HttpCounts::default()),
        }
    }

    pub fn connected(&self) {
        self.counts.send_modify(|c| c.connections += 1);
    }

    pub fn arrived(&self) {
        self.counts.send_modify(|c| c.arrived += 1);
    }

    pub fn take(&self, mut request: Received, taken: bool) {
        (request.taken, request.done_at) = (taken, Instant::now());
        let repeat = {
            let mut held = self.held();
            let repeat = taken && held.count(request.id.as_deref(), self.keep_ids);
            if self.keep > 0 {
                if held.requests.len() >= self.keep {
                    held.requests.pop_front();
                }
                held.requests.push_back(request);
            }
            repeat
        };
        self.counts.send_modify(|c| {
            c.requests += 1;
            c.taken += u64::from(taken);
            c.repeats += u64::from(repeat);
        });
    }

    pub fn requests(&self) -> Vec<Received> {
        self.held().requests.iter().cloned().collect()
    }

    pub fn counts(&self) -> HttpCounts {
        *self.counts.borrow()
    }

    pub fn deliveries_of(&self, id: &str) -> u32 {
        self.held().by_id.get(id).copied().unwrap_or(0)
    }

    pub async fn wait(&self, wanted: impl Fn(&HttpCounts) -> bool) {
        // The sender lives in `self`, so the channel cannot close under us.
        let _ = self.counts.subscribe().wait_for(|counts| wanted(counts)).await;
    }

    pub fn forget(&self) {
        *self.held() = KeptRequests::default();
        self.counts.send_replace(HttpCounts::default());
    }

    fn held(&self) -> MutexGuard<'_, KeptRequests> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptRequests {
    /// Counts an id; returns whether it had been taken before.
    fn count(&mut self, id: Option<&str>, keep_ids: usize) -> bool {
        let Some(id) = id else { return false };
        if let Some(n) = self.by_id.get_mut(id) {
            *n += 1;
            return true;
        }
        if self.by_id.len() < keep_ids {
            self.by_id.insert(id.to_owned(), 1);
        }
        false
    }
}
