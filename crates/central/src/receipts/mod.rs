//! Receipts: what providers tell later about messages they took. Callbacks come in through [`ReceiptService::take`]; a
//! background loop works on what they brought ([`ReceiptService::sweep`]), another asks about what nobody signed
//! ([`ReceiptService::ask`]).
//!
//! Leaves to others: HTTP (`web`), signatures and what a service's words mean (`delivery`), which notification it is about
//! and what follows for it (`store`, `domain::receipt`), a provider's secret (`providers`).
//! Always true: nothing is stored for a caller without a secret that is in force, or whose signature is wrong; what is
//! answered with a success is stored; the inbox has a bound.

mod ask;
mod sweep;

use crate::{changes::Changes, directory::Directory, keys, wake::Wake};
use delivery::receipt::{
    Callback, CallbackContent, CallbackRefused, HeaderMap, MAX_RECEIPTS_PER_CALL, Method,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use store::{
    Signals,
    directory::Provider,
    receipts::{OptOuts, ReceiptsFrom, ReceiptsWaiting},
};
use tokio::sync::Notify;

/// The most receipts that wait to be looked at; a provider that is told so sends them again later.
pub const MAX_INBOX: u32 = 100_000;
/// So many receipts of one provider are kept although they fit nothing yet. A number that another program sends through as well
/// tells of messages we know nothing about; they must not fill the inbox, nor push out what others wait for.
pub const MAX_ORPHANS: u32 = 20_000;

/// Providers call with one receipt at a time. What comes in so close together is worked on together: nobody waits for a receipt to
/// the split second, and looking at each alone takes from what is being sent.
pub const GATHERED_FOR: Duration = Duration::from_millis(100);

/// What came in for a provider.
#[derive(Debug, Clone, Copy)]
pub struct Incoming<'a> {
    pub method: &'a Method,
    /// The path and query that were called, as they were written.
    pub path_and_query: &'a str,
    pub headers: &'a HeaderMap,
    pub body: &'a [u8],
}

/// What a callback is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// So many receipts are stored.
    Stored(usize),
    /// The far end wants to hear this.
    Answer(String),
}

#[derive(Debug, thiserror::Error)]
pub enum CallbackError {
    #[error(transparent)]
    Refused(#[from] CallbackRefused),
    #[error("too many receipts wait already")]
    Full,
    /// This node cannot check it: no key for the secrets, no adapter for the kind.
    #[error("{0}")]
    NotUsable(String),
    #[error(transparent)]
    Store(#[from] store::Error),
}

#[derive(Clone)]
pub struct ReceiptService {
    store: Arc<dyn store::Receipts>,
    providers: Arc<dyn store::Directory>,
    directory: Arc<Directory>,
    opt_outs: OptOuts,
    signals: Arc<dyn Signals>,
    wake: Arc<Wake>,
    changes: Changes,
    max_inbox: u64,
    max_orphans: u32,
    inbox: Arc<Inbox>,
}

/// What is known of the inbox without asking: as the last sweep found it, and what came in since.
#[derive(Debug, Default)]
struct Inbox {
    fresh: AtomicU64,
    came_in: Notify,
    /// Something came in that nobody signed.
    unproven: Notify,
}

impl std::fmt::Debug for ReceiptService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReceiptService")
    }
}

impl ReceiptService {
    pub fn new(
        store: Arc<dyn store::Receipts>,
        providers: Arc<dyn store::Directory>,
        signals: Arc<dyn Signals>,
        directory: Arc<Directory>,
        wake: Arc<Wake>,
        changes: Changes,
    ) -> Self {
        let kinds = directory.registry().iter();
        let opt_outs = kinds.map(|kind| (kind.info().kind, kind.opt_outs()));
        Self {
            store,
            providers,
            opt_outs: Arc::new(opt_outs.filter(|(_, codes)| !codes.is_empty()).collect()),
            directory,
            signals,
            wake,
            changes,
            max_inbox: u64::from(MAX_INBOX),
            max_orphans: MAX_ORPHANS,
            inbox: Arc::default(),
        }
    }

    /// The same with another bound of the inbox.
    pub fn bounded_to(self, max_inbox: u64) -> Self {
        Self { max_inbox, ..self }
    }

    /// The same with another bound of what fits nothing.
    pub fn keeping_orphans(self, max_orphans: u32) -> Self {
        Self { max_orphans, ..self }
    }

    /// Whose callback this is; none where the secret is nobody's, or another provider's.
    pub async fn provider(&self, id: &str, secret: &str) -> store::Result<Option<Provider>> {
        let found = self.providers.provider_by_callback(&keys::hash(secret)).await?;
        Ok(found.filter(|found| found.provider.id.as_str() == id))
    }

    /// Checks who says so and stores what is told. Asks nobody outside.
    pub async fn take(&self, provider: &Provider, call: Incoming<'_>) -> Result<Taken, CallbackError> {
        let found = &provider.provider;
        let kind = self.directory.registry().get(&found.kind);
        let kind =
            kind.ok_or_else(|| CallbackError::NotUsable(format!("no adapter for kind {}", found.kind)))?;
        let settings = self.directory.open(found).map_err(CallbackError::NotUsable)?;
        let callback = Callback {
            method: call.method,
            url: &self.directory.public_address(call.path_and_query),
            headers: call.headers,
            body: call.body,
        };
        let receipts = match kind.read_callback(&settings, &callback)? {
            CallbackContent::Answer(answer) => return Ok(Taken::Answer(answer)),
            CallbackContent::Receipts(receipts) => receipts,
        };
        if receipts.len() > MAX_RECEIPTS_PER_CALL {
            let words = format!("more than {MAX_RECEIPTS_PER_CALL} receipts in one call");
            return Err(CallbackRefused::Unreadable(words).into());
        }
        let n = receipts.len();
        if n == 0 {
            return Ok(Taken::Stored(0));
        }
        if self.inbox.fresh.load(Ordering::Relaxed) >= self.max_inbox {
            return Err(CallbackError::Full);
        }
        let from = ReceiptsFrom {
            tenant: found.tenant,
            lane: provider.lane,
        };
        let unproven = receipts.iter().any(|receipt| receipt.unproven);
        self.store.keep_receipts(from, receipts).await?;
        self.inbox.fresh.fetch_add(n as u64, Ordering::Relaxed);
        metrics::counter!("waypost_receipts_total", "result" => "taken").increment(n as u64);
        self.inbox.came_in.notify_one();
        if unproven {
            self.inbox.unproven.notify_one();
        }
        Ok(Taken::Stored(n))
    }

    /// Completes a moment after something came in to work on.
    pub(crate) async fn came_in(&self) {
        self.inbox.came_in.notified().await;
        tokio::time::sleep(GATHERED_FOR).await;
    }

    fn found(&self, waiting: ReceiptsWaiting) {
        self.inbox.fresh.store(waiting.fresh, Ordering::Relaxed);
    }
}
