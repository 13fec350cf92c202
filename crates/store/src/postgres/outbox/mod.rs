//! The [`Outbox`] trait on PostgreSQL; each method's work is in the module named after it.

mod claim;
pub(super) mod claim_starts;
pub(super) mod compact;
pub(super) mod ingest;
pub(super) mod ingest_columns;
pub(super) mod ingest_found;
pub(super) mod ingest_write;
pub(super) mod lanes;
mod late;
mod pauses;
mod recipient_columns;
mod record;
pub(super) mod record_columns;
pub(super) mod sql;

use crate::{
    Result, Signals,
    outbox::{
        AttemptRecord, Claims, HoldLane, Ingested, LaneWant, LanesWaiting, Lease, NewNotification, NewPause,
        Outbox, Owned, Pauses, Recorded,
    },
    postgres::{PgStore, failed::Failed},
    signals::Signal,
};
use async_trait::async_trait;
use domain::{Actor, HoldReason, LaneId, LeaseToken, NotificationId, TenantId, settle::RecipientUpdate};
use std::{sync::Arc, time::Duration};
use tokio::sync::broadcast;

#[async_trait]
impl Outbox for PgStore {
    async fn ingest(&self, batch: Vec<NewNotification>) -> Result<Vec<Ingested>> {
        self.ingest.ingest(batch).await
    }

    async fn lanes_waiting(&self) -> Result<LanesWaiting> {
        Ok(claim::lanes_waiting(&self.db).await?)
    }

    async fn claim_due(&self, wants: &[LaneWant], token: LeaseToken, lease: Duration) -> Result<Claims> {
        Ok(claim::claim_due(&self.db, wants, token, lease).await?)
    }

    async fn claim_probe(&self, lane: LaneId, token: LeaseToken, lease: Duration) -> Result<Claims> {
        Ok(claim::claim_probe(&self.db, lane, token, lease).await?)
    }

    async fn record(&self, batch: Arc<[AttemptRecord]>) -> Result<Vec<Recorded>> {
        record::record(&self.db, &batch).await
    }

    async fn release(&self, leases: &[Lease]) -> Result<()> {
        Ok(claim::release(&self.db, leases).await?)
    }

    async fn renew(&self, leases: &[Lease], lease: Duration) -> Result<Vec<Lease>> {
        Ok(claim::renew(&self.db, leases, lease).await?)
    }

    async fn hold_lane(&self, hold: HoldLane) -> Result<bool> {
        lanes::hold(&self.db, &hold)
            .await
            .map_err(Failed::while_committing)
    }

    async fn resume_lane(&self, lane: LaneId, only: Option<HoldReason>, actor: &Actor) -> Result<bool> {
        lanes::resume(&self.db, lane, only, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn try_lane(&self, lane: LaneId, actor: &Actor) -> Result<Option<u64>> {
        lanes::try_now(&self.db, lane, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn pause_lane(&self, lane: LaneId, wait: Duration) -> Result<()> {
        Ok(lanes::pause(&self.db, lane, wait).await?)
    }

    async fn add_pauses(&self, lane: LaneId, pauses: Vec<NewPause>) -> Result<()> {
        pauses::add(&self.db, lane, &pauses)
            .await
            .map_err(Failed::while_committing)
    }

    async fn pauses(&self, lane: LaneId) -> Result<Pauses> {
        Ok(pauses::of(&self.db, lane).await?)
    }

    async fn note_recipients(
        &self,
        lease: Lease,
        provider: &str,
        updates: Vec<RecipientUpdate>,
    ) -> Result<bool> {
        record::note(&self.db, lease, provider, &updates)
            .await
            .map_err(Failed::while_committing)
    }

    async fn own_lane(&self, lane: LaneId, node: &str, ttl: Duration) -> Result<Owned> {
        Ok(lanes::own(&self.db, lane, node, ttl).await?)
    }

    async fn park_expired(&self, limit: u32) -> Result<Vec<(TenantId, NotificationId)>> {
        lanes::park_expired(&self.db, limit)
            .await
            .map_err(Failed::while_committing)
    }

    /// Other nodes are alive: their leases run out by themselves if they are not.
    async fn void_stale_leases(&self) -> Result<u64> {
        Ok(0)
    }
}

impl Signals for PgStore {
    fn subscribe(&self) -> broadcast::Receiver<Signal> {
        self.signals.subscribe()
    }

    fn announce(&self, signal: Signal) {
        self.signals.announce(signal);
    }
}
