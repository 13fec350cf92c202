//! Takes what waits for a provider in trouble on to the next one of its channel, where a tenant asked for that.
//!
//! Leaves to others: which rows may leave and that each lane has them once (`store::failover`), holding and probing lanes
//! (`dispatcher`), finding out that there is something to do (`chores`).
//! Always true: new messages go to the first provider of the order, also while it is held, and leave it from there; so
//! the first of them is the probe that finds it well again, and then they stay. What a provider would not send at this hour is
//! not sent at this hour by another.

use crate::{
    changes::{Change, Changes},
    chores::Chores,
    directory::{Directory, LaneAdapter},
    wake::Wake,
};
use delivery::{Adapter, Kind, Message, adapter::TemplateUse};
use domain::{Actor, Channel, LaneId, NotificationId, ProviderId, Status, TenantId, Timestamp, lock::lock};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
};
use store::{
    Signals,
    failover::{FailingLane, MovableRow, MovedRow, Place, RowMove},
    signals::Signal,
};

/// Looks into one lane in one sweep; the next one goes on from there.
const LOOKS_PER_SWEEP: usize = 100;

#[derive(Debug, Clone)]
pub struct FailoverService {
    store: Arc<dyn store::Failover>,
    providers: Arc<dyn store::Directory>,
    signals: Arc<dyn Signals>,
    directory: Arc<Directory>,
    wake: Arc<Wake>,
    changes: Changes,
    chores: Arc<Chores>,
    /// How far a sweep came in lanes that it did not finish.
    places: Arc<Mutex<HashMap<LaneId, Place>>>,
}

/// The providers of a channel in the order in which they are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelOrder {
    pub channel: Channel,
    /// What waits for a provider in trouble goes on to the next.
    pub failover: bool,
    pub providers: Vec<ProviderId>,
}

/// A provider that could take over.
struct Successor {
    lane: LaneId,
    kind: Arc<dyn Kind>,
    adapter: Arc<dyn Adapter>,
}

impl Successor {
    /// It has not had the message, and would not refuse it for what it is.
    fn takes(&self, row: &MovableRow) -> bool {
        !row.left.contains(&self.lane) && self.kind.problems(&row.content).is_empty()
    }
}

/// The providers of a failing lane's channel.
#[derive(Default)]
struct Siblings {
    /// Who could take over, in their order.
    successors: Vec<Successor>,
    /// Of all of them, also of those in trouble.
    adapters: HashMap<LaneId, Arc<dyn Adapter>>,
}

impl Siblings {
    /// Where a row of the failing lane goes next, if anywhere.
    fn next(&self, from: LaneId, row: &MovableRow, now: Timestamp) -> Option<RowMove> {
        let template = delivery::adapter::template_name(&row.content);
        let may_send_template = |to: &Successor| {
            template
                .as_ref()
                .is_none_or(|name| self.may_send_template(from, row, to, name))
        };
        let mut successors = self.successors.iter();
        let to = successors.find(|successor| successor.takes(row) && may_send_template(successor))?;
        (!self.keeps_hours(from, row, now)).then_some(RowMove {
            seq: row.place.seq,
            generation: row.generation,
            to: to.lane,
        })
    }

    /// Whether the next one has the template that the row names. One that would send the text instead may do so where those that
    /// have had the row would have sent the text too; of the others the template is approved, and nobody has approved the text.
    fn may_send_template(&self, from: LaneId, row: &MovableRow, to: &Successor, name: &str) -> bool {
        let sends_text = |lane: LaneId| {
            let adapter = self.adapters.get(&lane);
            adapter.is_some_and(|adapter| adapter.template_use(name) == TemplateUse::SendsText)
        };
        match to.adapter.template_use(name) {
            TemplateUse::Known => true,
            TemplateUse::Unknown => false,
            TemplateUse::SendsText => had_it(from, row).all(sends_text),
        }
    }

    /// Whether one that has had the row would not send it at this hour. The next one may know of no hours.
    fn keeps_hours(&self, from: LaneId, row: &MovableRow, now: Timestamp) -> bool {
        let message = Message {
            id: NotificationId::mint(),
            content: Box::new(row.content.clone()),
            targets: vec![],
            site: None,
            created_at: now,
            trace: None,
            unsubscribe: None,
        };
        had_it(from, row)
            .filter_map(|lane| self.adapters.get(&lane))
            .any(|adapter| adapter.not_before(&message, now).is_some())
    }
}

/// The lanes that have had the row, with the one it is in.
fn had_it(from: LaneId, row: &MovableRow) -> impl Iterator<Item = LaneId> + '_ {
    row.left.iter().copied().chain([from])
}

/// What came of one lane.
#[derive(Debug, Default)]
struct Left {
    moved: u64,
    /// Some rows have nowhere to go.
    stuck: bool,
    /// There are more rows to look at.
    more: bool,
}

impl FailoverService {
    pub(crate) fn new(
        store: Arc<dyn store::Failover>,
        providers: Arc<dyn store::Directory>,
        signals: Arc<dyn Signals>,
        directory: Arc<Directory>,
        wake: Arc<Wake>,
        changes: Changes,
        chores: Arc<Chores>,
    ) -> Self {
        Self {
            store,
            providers,
            signals,
            directory,
            wake,
            changes,
            chores,
            places: Arc::default(),
        }
    }

    /// The tenant's channels that have a provider, or that were said something about.
    pub async fn orders(&self, tenant: TenantId) -> store::Result<Vec<ChannelOrder>> {
        let mut orders: BTreeMap<&str, ChannelOrder> = BTreeMap::new();
        let order = |channel: Channel| ChannelOrder {
            channel,
            failover: false,
            providers: vec![],
        };
        let mut providers = self.providers.providers(tenant).await?;
        providers.sort_by_key(|p| (!p.provider.enabled, p.provider.order));
        for p in providers {
            let channel = p.provider.channel;
            let known = orders.entry(channel.as_str()).or_insert_with(|| order(channel));
            known.providers.push(p.provider.id);
        }
        for channel in self.store.failover_channels(tenant).await? {
            let known = orders.entry(channel.as_str()).or_insert_with(|| order(channel));
            known.failover = true;
        }
        Ok(orders.into_values().collect())
    }

    /// Switches a channel's failover on or off.
    pub async fn put(
        &self,
        tenant: TenantId,
        channel: Channel,
        on: bool,
        actor: &Actor,
    ) -> store::Result<()> {
        if self.store.put_failover(tenant, channel, on, actor).await? {
            self.directory.refresh().await?;
            self.signals.announce(Signal::Directory);
            self.chores.look_for_failover();
        }
        Ok(())
    }

    /// Moves what can be moved. Answers how many notifications that were.
    pub async fn sweep(&self) -> store::Result<u64> {
        let failing = self.store.failing_lanes().await?;
        lock(&self.places).retain(|lane, _| failing.iter().any(|f| f.lane == *lane));
        let (mut moved, mut stuck, mut more) = (0, false, false);
        for lane in &failing {
            let left = self.empty(lane).await?;
            moved += left.moved;
            stuck |= left.stuck;
            more |= left.more && left.moved > 0;
        }
        // With rows that have nowhere to go, looking at all of them for each new one would be too much: the poll does it.
        self.chores.lanes_are_failing(!failing.is_empty() && !stuck);
        if more {
            self.chores.look_for_failover();
        }
        Ok(moved)
    }

    /// Moves the rows of one lane, but for the one that its probe needs.
    async fn empty(&self, failing: &FailingLane) -> store::Result<Left> {
        let from = failing.lane;
        let mut left = Left::default();
        if !failing.has_rows {
            if failing.probe_due && self.store.lend_probe_row(from).await? {
                self.wake.look();
            }
            return Ok(left);
        }
        let mut kept_for_probe = !failing.probe_due;
        if failing.probe_due {
            self.wake.look();
        }
        let siblings = self.siblings(failing).await?;
        let mut after = lock(&self.places).remove(&from);
        let mut to = BTreeSet::new();
        for _ in 0..LOOKS_PER_SWEEP {
            let found = self.store.movable_rows(from, after).await?;
            let mut rows = found.rows.as_slice();
            if let (false, [_, others @ ..]) = (kept_for_probe, rows) {
                (rows, kept_for_probe) = (others, true);
            }
            let now = found.now.unwrap_or(Timestamp::EPOCH);
            let moves: Vec<_> = rows
                .iter()
                .filter_map(|row| siblings.next(from, row, now))
                .collect();
            left.stuck |= moves.len() < rows.len();
            if !moves.is_empty() {
                let moved = self.store.move_rows(from, moves).await?;
                left.moved += moved.len() as u64;
                to.extend(moved.iter().map(|row| row.to));
                self.tell(&moved);
            }
            after = found.next;
            if after.is_none() {
                break;
            }
            tokio::task::yield_now().await;
        }
        if let Some(place) = after {
            lock(&self.places).insert(from, place);
        }
        left.more = after.is_some();
        self.moved_on(failing, &left, to);
        Ok(left)
    }

    /// Whoever is held, for whatever reason, could not take over.
    async fn siblings(&self, failing: &FailingLane) -> store::Result<Siblings> {
        let mut siblings = Siblings::default();
        for p in self.providers.providers(failing.tenant).await? {
            if p.provider.channel != failing.channel {
                continue;
            }
            let entry = self.directory.lane(p.lane, Some(p.version)).await?;
            let LaneAdapter::Ready(adapter) = &entry.adapter else {
                continue;
            };
            siblings.adapters.insert(p.lane, adapter.clone());
            let usable = p.provider.enabled && p.hold.is_none() && p.lane != failing.lane;
            let kind = self.directory.registry().get(&p.provider.kind);
            if let (true, Some(kind)) = (usable, kind) {
                siblings.successors.push(Successor {
                    lane: p.lane,
                    kind: kind.clone(),
                    adapter: adapter.clone(),
                });
            }
        }
        Ok(siblings)
    }

    fn tell(&self, moved: &[MovedRow]) {
        if !self.changes.is_watched() {
            return;
        }
        for row in moved {
            self.changes.tell(Change {
                tenant: row.tenant,
                id: row.id,
                status: Status::Pending,
                code: None,
            });
        }
    }

    fn moved_on(&self, failing: &FailingLane, left: &Left, to: BTreeSet<LaneId>) {
        if left.moved == 0 {
            return;
        }
        metrics::counter!("waypost_failover_moved_total").increment(left.moved);
        tracing::info!(
            provider.id = %failing.provider, hold.reason = %failing.reason, rows = left.moved,
            "notifications went on to the next provider of their channel"
        );
        let lanes: Vec<_> = to.into_iter().collect();
        self.wake.lanes(lanes.iter().copied());
        self.signals.announce(Signal::Lanes(lanes));
    }
}
