//! Claiming what is due and starting it.
//!
//! Always true: no more is claimed than the lanes' plan allows; a row that cannot be started goes back uncounted, and its
//! lane is not claimed from again at once.

use super::{
    Dispatcher,
    attempt::{Finished, Start},
    lanes::{self, Behaviour},
    pauses::LanePauses,
};
use crate::directory::{LaneAdapter, LaneEntry};
use domain::{
    LaneId, LeaseToken,
    retry::slower,
    trace::{Span, SpanKind},
};
use std::{collections::HashMap, sync::Arc, time::Duration, vec};
use store::outbox::{Claimed, Claims, LaneWant};
use tokio::time::Instant;

/// How long rate-limited lanes are owned for.
const OWNED_FOR: Duration = Duration::from_secs(30);
/// Rows sent and not yet on record, for each attempt that may be under way.
const UNRECORDED_PER_PERMIT: usize = 4;
/// After this a lane is looked at again from which rows went back: whatever was in their way is not asked about at once.
pub(super) const RELEASED_LANE_WAIT: Duration = Duration::from_secs(1);

/// The first wait after a claim that failed.
pub(super) const FIRST_WAIT: Duration = Duration::from_millis(100);

impl Dispatcher {
    pub(super) async fn claim_if_allowed(&mut self) -> usize {
        if *self.blocked.borrow() || self.claim_not_before.is_some_and(|at| at > Instant::now()) {
            return 0;
        }
        match self.claim().await {
            Ok(claimed) => {
                self.claim_not_before = None;
                self.claim_wait = FIRST_WAIT;
                claimed
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "claiming failed; trying again"
                );
                self.claim_not_before = Some(Instant::now() + self.claim_wait);
                self.claim_wait = slower(self.claim_wait);
                self.wake.look();
                0
            }
        }
    }

    /// Claims once, what may be claimed now, and starts it. Answers how many rows that was.
    pub(super) async fn claim(&mut self) -> store::Result<usize> {
        self.learn_limits().await?;
        // Bounds memory, and what a crash can make come twice, when the store is slower than the far ends.
        let most = UNRECORDED_PER_PERMIT
            .saturating_mul(self.settings.permits)
            .saturating_sub(self.unrecorded);
        let plan = self.lanes.plan(self.clock.now(), self.settings.batch, most);
        let mut probes = plan.probes.into_iter();
        let started = self.claim_planned(plan.wants, &mut probes).await;
        // Those that did not get their turn are due as before.
        probes.for_each(|lane| self.lanes.probe_claimed(lane, false));
        started
    }

    /// Takes from `probes` the lanes that were asked for a row.
    async fn claim_planned(
        &mut self,
        wants: Vec<LaneWant>,
        probes: &mut vec::IntoIter<LaneId>,
    ) -> store::Result<usize> {
        let mut started = 0;
        if !wants.is_empty() {
            started += self.claim_wanted(wants).await?;
        }
        for lane in probes {
            started += self.probe(lane).await?;
        }
        Ok(started)
    }

    async fn claim_wanted(&mut self, wants: Vec<LaneWant>) -> store::Result<usize> {
        let (token, since) = (LeaseToken::mint(), Instant::now());
        let claims = self.store.claim_due(&wants, token, self.settings.lease).await;
        let claims = match claims {
            Ok(claims) => claims,
            Err(error) => {
                for want in wants {
                    self.lanes.claimed(want, 0);
                    self.lanes.enqueue(want.lane);
                }
                return Err(error);
            }
        };
        let mut got: HashMap<LaneId, (usize, usize)> = HashMap::with_capacity(wants.len());
        for row in &claims.rows {
            let (rows, bytes) = got.entry(row.lane).or_default();
            *rows += 1;
            *bytes += row.content.weight();
        }
        for want in wants {
            let (rows, bytes) = got.get(&want.lane).copied().unwrap_or_default();
            self.lanes.claimed(want, rows);
            self.lanes.weighed(want.lane, rows, bytes);
        }
        Ok(self.start(claims, since).await)
    }

    /// A lane's limits are needed before its first claim; afterwards each claim brings news of them.
    async fn learn_limits(&mut self) -> store::Result<()> {
        for lane in self.lanes.unknown_ready() {
            match self.context.directory.lane(lane, None).await {
                Ok(entry) => self.set_limits(lane, &entry),
                Err(error) if error.may_pass() => return Err(error),
                // One row that cannot be read must not keep everybody else waiting.
                Err(error) => self.skip_unreadable(lane, &error),
            }
        }
        let now = self.clock.now();
        for lane in self.lanes.unowned_ready(now) {
            let owned = self.store.own_lane(lane, &self.node, OWNED_FOR).await?;
            // Asked for again well before it ends.
            self.lanes.owned(lane, owned, now, OWNED_FOR / 2);
        }
        Ok(())
    }

    fn skip_unreadable(&mut self, lane: LaneId, error: &store::Error) {
        tracing::error!(
            lane.id = %lane,
            error = error as &dyn std::error::Error,
            "a provider cannot be read; its lane is left alone until something is changed"
        );
        self.lanes.skip(lane);
    }

    fn set_limits(&mut self, lane: LaneId, entry: &LaneEntry) {
        let now = self.clock.now();
        self.lanes
            .set_limits(lane, entry.tenant, &entry.limits, entry.on_ambiguous, now);
    }

    async fn probe(&mut self, lane: LaneId) -> store::Result<usize> {
        let since = Instant::now();
        let claims = self
            .store
            .claim_probe(lane, LeaseToken::mint(), self.settings.lease)
            .await;
        let got = claims.as_ref().is_ok_and(|claims| !claims.rows.is_empty());
        self.lanes.probe_claimed(lane, got);
        Ok(self.start(claims?, since).await)
    }

    /// Starts the attempts of a claim. Answers how many rows came with it.
    async fn start(&mut self, claims: Claims, since: Instant) -> usize {
        let Claims {
            now,
            directory_version,
            rows,
            probing,
        } = claims;
        if let Some(now) = now {
            self.clock.saw(now);
        }
        self.saw_directory(directory_version);
        let claimed = rows.len();
        // Renewals keep a running send ours; one that has not begun by now must not begin.
        let start_by = since + self.settings.lease / 2;
        self.unrecorded += claimed;
        self.leases.held(rows.iter().map(|row| row.lease), since);
        let suppressed = match self
            .context
            .suppressions
            .ask(&self.context.directory, &rows)
            .await
        {
            Ok(suppressed) => Arc::new(suppressed),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "who must not be written to could not be read; nothing is sent"
                );
                self.give_back(&rows, probing.is_some()).await;
                return claimed;
            }
        };
        for mut row in rows {
            self.tell_claim(&mut row, since);
            let Some((entry, pauses)) = self.ready_to_send(&row).await else {
                self.give_back(&[row], probing.is_some()).await;
                continue;
            };
            let (context, finished, suppressed) =
                (self.context.clone(), self.finished.clone(), suppressed.clone());
            let gate = self.lanes.gate(row.lane);
            let turn = gate.turn();
            let start = Start {
                probe: probing.clone(),
                now: self.clock.now(),
                by: start_by,
                pauses,
                turn: turn.clone(),
            };
            // In its place from the start: a task is moved several times before it runs, and this one is large.
            tokio::spawn(Box::pin(async move {
                let over = match turn.enter().await {
                    None => Finished::let_go(row, entry, start.probe),
                    Some(_place) => {
                        let over = context.attempt(row, entry, start, &suppressed).await;
                        // Before the place is free.
                        if over.is_trouble_of_the_lane() {
                            gate.shut();
                        }
                        over
                    }
                };
                // Without a recorder the process is going; the lease ends by itself.
                let _ = finished.send(over);
            }));
        }
        claimed
    }

    /// The row's lane as it is set up now, and who in it is not to be asked yet. None where this node cannot know, or
    /// cannot send through it.
    async fn ready_to_send(&mut self, row: &Claimed) -> Option<(Arc<LaneEntry>, Option<Arc<LanePauses>>)> {
        let known = self.context.directory.known_lane(row.lane, row.config_version);
        let entry = match known {
            Some(entry) => entry,
            None => {
                let read = self.context.directory.lane(row.lane, Some(row.config_version));
                match read.await {
                    Ok(entry) => entry,
                    Err(error) if error.may_pass() => {
                        let error = &error as &dyn std::error::Error;
                        tracing::warn!(error, "a provider could not be read");
                        return None;
                    }
                    Err(error) => {
                        self.skip_unreadable(row.lane, &error);
                        return None;
                    }
                }
            }
        };
        self.set_limits(row.lane, &entry);
        if let LaneAdapter::Sealed(why) = &entry.adapter {
            tracing::error!(
                provider.id = entry.provider.as_ref().map(tracing::field::display),
                why,
                "this node cannot open the provider's secrets and leaves its lane alone"
            );
            self.lanes.skip(row.lane);
            return None;
        }
        let pauses = self.pauses.of(row.lane, row.pauses_version).await;
        let pauses = pauses.inspect_err(|error| {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "a lane's pauses could not be read"
            );
        });
        Some((entry, pauses.ok()?))
    }

    /// The claim's step of the row's trace, which the attempt goes on from.
    fn tell_claim(&self, row: &mut Claimed, since: Instant) {
        let tracer = &self.context.tracer;
        let parent = row.trace;
        let Some(context) = tracer.child(parent) else {
            return;
        };
        row.trace = Some(context);
        tracer.tell(Span {
            name: "claim",
            kind: SpanKind::Internal,
            context,
            parent,
            start: since.into_std(),
            end: Instant::now().into_std(),
            attributes: vec![("notification.id", row.id.to_string())],
            failed: None,
        });
    }

    async fn give_back(&mut self, rows: &[Claimed], was_probe: bool) {
        let leases: Vec<_> = rows.iter().map(|row| row.lease).collect();
        lanes::take(&mut self.unrecorded, rows.len());
        self.leases.over(&leases);
        // What kept one of a lane back keeps the others back too.
        let again = self.clock.now() + RELEASED_LANE_WAIT;
        for row in rows {
            self.lanes.finished(row.lane, Behaviour::NotAsked);
            self.lanes.paused(row.lane, again);
            if was_probe {
                // Nobody will tell how it went. The store knows when the next one is due.
                self.lanes.probe_over(row.lane, true, None);
            }
        }
        if let Err(error) = self.store.release(&leases).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "rows could not be given back; their leases will end"
            );
        }
    }
}
