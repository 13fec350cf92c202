//! The [`Outbox`] trait on SQLite: which call is a command for the writer, and which is a read.

mod claim;
mod expired;
pub(super) mod ingest;
pub(super) mod lanes;
mod late;
mod pauses;
pub(super) mod record;
pub(super) mod sql;

use crate::{
    Outbox, Result, Signals,
    outbox::{
        AttemptRecord, Claims, HoldLane, Ingested, LaneWant, LanesWaiting, Lease, NewNotification, NewPause,
        Owned, Pauses, Recorded,
    },
    signals::Signal,
    sqlite::SqliteStore,
};
use async_trait::async_trait;
use domain::{Actor, HoldReason, LaneId, LeaseToken, NotificationId, TenantId, settle::RecipientUpdate};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::sync::broadcast;

#[async_trait]
impl Outbox for SqliteStore {
    async fn ingest(&self, batch: Vec<NewNotification>) -> Result<Vec<Ingested>> {
        let batch: Vec<_> = batch.into_iter().map(ingest::Hashed::from).collect();
        self.write(batch.len(), move |s| ingest::ingest(s, &batch)).await
    }

    async fn lanes_waiting(&self) -> Result<LanesWaiting> {
        let now = self.clock.now();
        self.read(move |conn| lanes::waiting(conn, now)).await
    }

    async fn claim_due(&self, wants: &[LaneWant], token: LeaseToken, lease: Duration) -> Result<Claims> {
        let wants = wants.to_vec();
        let weight = wants.iter().map(|want| want.n as usize).sum();
        self.claimed.store(true, Ordering::SeqCst);
        self.write(weight, move |s| claim::claim_due(s, &wants, token, lease))
            .await
    }

    async fn claim_probe(&self, lane: LaneId, token: LeaseToken, lease: Duration) -> Result<Claims> {
        self.claimed.store(true, Ordering::SeqCst);
        self.write(1, move |s| claim::claim_probe(s, lane, token, lease))
            .await
    }

    async fn record(&self, batch: Arc<[AttemptRecord]>) -> Result<Vec<Recorded>> {
        self.write(batch.len(), move |s| record::record(s, &batch)).await
    }

    async fn release(&self, leases: &[Lease]) -> Result<()> {
        let leases = leases.to_vec();
        self.write(leases.len(), move |s| lanes::release(s, &leases))
            .await
    }

    async fn renew(&self, leases: &[Lease], lease: Duration) -> Result<Vec<Lease>> {
        let leases = leases.to_vec();
        self.write(leases.len(), move |s| lanes::renew(s, &leases, lease))
            .await
    }

    async fn hold_lane(&self, hold: HoldLane) -> Result<bool> {
        self.write(1, move |s| lanes::hold(s, &hold)).await
    }

    async fn resume_lane(&self, lane: LaneId, only: Option<HoldReason>, actor: &Actor) -> Result<bool> {
        let actor = actor.clone();
        self.write(1, move |s| lanes::resume(s, lane, only, &actor)).await
    }

    async fn try_lane(&self, lane: LaneId, actor: &Actor) -> Result<Option<u64>> {
        let actor = actor.clone();
        self.write(1, move |s| lanes::try_now(s, lane, &actor)).await
    }

    async fn pause_lane(&self, lane: LaneId, wait: Duration) -> Result<()> {
        self.write(1, move |s| lanes::pause(s, lane, wait)).await
    }

    async fn add_pauses(&self, lane: LaneId, pauses: Vec<NewPause>) -> Result<()> {
        self.write(pauses.len(), move |s| pauses::add(s, lane, &pauses))
            .await
    }

    async fn pauses(&self, lane: LaneId) -> Result<Pauses> {
        let now = self.clock.now();
        self.read(move |conn| pauses::of(conn, lane, now)).await
    }

    async fn note_recipients(
        &self,
        lease: Lease,
        provider: &str,
        updates: Vec<RecipientUpdate>,
    ) -> Result<bool> {
        let provider = provider.to_owned();
        let weight = updates.len();
        self.write(weight, move |s| record::note(s, lease, &provider, &updates))
            .await
    }

    async fn own_lane(&self, lane: LaneId, node: &str, ttl: Duration) -> Result<Owned> {
        let node = node.to_owned();
        self.write(1, move |s| lanes::own(s, lane, &node, ttl)).await
    }

    async fn park_expired(&self, limit: u32) -> Result<Vec<(TenantId, NotificationId)>> {
        self.write(limit as usize, move |s| expired::park(s, limit)).await
    }

    async fn void_stale_leases(&self) -> Result<u64> {
        let all = !self.claimed.load(Ordering::SeqCst);
        let opened_at = self.opened_at;
        self.write(1, move |s| lanes::void_stale(s, all, opened_at)).await
    }
}

impl Signals for SqliteStore {
    fn subscribe(&self) -> broadcast::Receiver<Signal> {
        self.signals.subscribe()
    }

    fn announce(&self, _: Signal) {}
}
