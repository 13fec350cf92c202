//! The other machine of a site: whatever happens to a buffer, and in however many pieces it is fetched, the copy is the
//! same.

use crate::harness::{Place, a_message, get, identity, put};
use domain::{
    Actor, Clock,
    pair::{Role, Table},
    site::Category,
};
use futures_util::FutureExt;
use proptest::{prelude::*, test_runner::Config};
use rusqlite::{Connection, types::Value};
use std::{path::Path, time::Duration};
use store::{
    Buffer,
    buffer::{
        Attempted, Count, Enqueued, Handed, MessageId, Options, Start, Step as Outcome, Ticket,
        replication::{self, put_in_place, side_file},
    },
};
use uuid::Uuid;

const ALL: usize = usize::MAX;

#[derive(Debug, Clone)]
enum Step {
    Send(Category, Start),
    Claim,
    Record(usize, u8),
    Acked(u8),
    Refused,
    Requeue(usize),
    Discard(usize),
    NewCentral,
    Forget,
    Purge,
    Advance(u16),
    /// The standby fetches about so many bytes.
    Fetch(usize),
    /// Another standby takes one more part of a whole copy.
    Copy(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Send(Category::Notification, Start::Queued)),
        2 => Just(Step::Send(Category::ExternalSystem, Start::Queued)),
        1 => Just(Step::Send(Category::ExternalSystem, Start::Attempted)),
        3 => Just(Step::Claim),
        4 => (any::<usize>(), 0u8..4).prop_map(|(n, end)| Step::Record(n, end)),
        3 => (1u8..4).prop_map(Step::Acked),
        1 => Just(Step::Refused),
        1 => any::<usize>().prop_map(Step::Requeue),
        1 => any::<usize>().prop_map(Step::Discard),
        1 => Just(Step::NewCentral),
        1 => Just(Step::Forget),
        1 => Just(Step::Purge),
        2 => (1u16..2_000).prop_map(Step::Advance),
        5 => prop_oneof![Just(1usize), 1usize..2_000, Just(ALL)].prop_map(Step::Fetch),
        5 => prop_oneof![Just(1usize), 1usize..2_000, Just(ALL)].prop_map(Step::Copy),
    ];
    prop::collection::vec(step, 1..80)
}

/// In simulations nothing has to be waited for.
fn now<T>(work: impl Future<Output = store::Result<T>>) -> T {
    work.now_or_never().expect("nothing is waited for").unwrap()
}

fn inline(place: &mut Place) -> Buffer {
    place.options.inline = true;
    place.open()
}

/// A whole copy, as far as it has come.
struct CopyUnderWay {
    table: usize,
    after: Option<domain::pair::Value>,
}

struct World {
    place: Place,
    active: Buffer,
    standby: Buffer,
    late: Buffer,
    copy: CopyUnderWay,
    _folders: [Place; 2],
    ids: Vec<MessageId>,
    tickets: Vec<Ticket>,
    central: u32,
}

impl World {
    fn new() -> Self {
        let (mut place, mut second, mut third) = (Place::new(), Place::new(), Place::new());
        let (active, standby, late) = (inline(&mut place), inline(&mut second), inline(&mut third));
        now(active.join_pair());
        let began = now(active.promote(0, false));
        now(standby.join_pair());
        now(standby.follow(began.history.clone(), false, None));
        now(late.join_pair());
        let world = Self {
            copy: CopyUnderWay {
                table: 0,
                after: None,
            },
            place,
            active,
            standby,
            late,
            _folders: [second, third],
            ids: vec![],
            tickets: vec![],
            central: 0,
        };
        now(world.active.met_central(&identity("0")));
        world
    }

    fn step(&mut self, step: &Step) {
        let active = &self.active;
        match step {
            Step::Send(category, start) => {
                let new = a_message(*category, if category.is_forwarded() { "ops" } else { "erp" });
                self.ids.push(new.id);
                let Enqueued::New(ticket) = now(active.enqueue(new, *start)) else {
                    panic!("a new id is new")
                };
                if *start == Start::Attempted {
                    self.tickets.push(ticket);
                }
            }
            Step::Claim => {
                let claimed = now(active.claim_due(Category::ExternalSystem, "erp", 2));
                self.tickets.extend(claimed.iter().map(|m| m.ticket()));
            }
            Step::Record(n, end) => {
                let Some(n) = n.checked_rem(self.tickets.len()) else {
                    return;
                };
                let error = "HTTP_503: busy".to_owned();
                let step = match end {
                    0 => Outcome::Delivered,
                    1 => Outcome::Park {
                        error,
                        count: Count::Try,
                        exhausted: false,
                    },
                    2 => Outcome::Released,
                    _ => Outcome::Retry {
                        after: Duration::from_secs(30),
                        error,
                        count: Count::Try,
                    },
                };
                now(active.record(vec![Attempted {
                    ticket: self.tickets[n],
                    step,
                    started_at: self.place.clock.now(),
                    took: Duration::from_millis(5),
                    http_status: None,
                }]));
            }
            Step::Acked(n) => self.hand_over(u32::from(*n), true),
            Step::Refused => self.hand_over(1, false),
            Step::Requeue(n) | Step::Discard(n) => {
                let Some(n) = n.checked_rem(self.ids.len()) else {
                    return;
                };
                let (id, actor) = (self.ids[n], Actor::new("user:a"));
                match step {
                    Step::Requeue(_) => now(active.requeue(id, &actor)),
                    _ => now(active.discard(id, &actor)),
                };
            }
            Step::NewCentral => {
                self.central += 1;
                now(active.met_central(&identity(&self.central.to_string())));
            }
            Step::Forget => {
                now(active.forget_acked(self.place.clock.now() - Duration::from_secs(900)));
            }
            Step::Purge => {
                now(active.purge(Duration::from_secs(3_600)));
            }
            Step::Advance(seconds) => {
                self.place.clock.advance(Duration::from_secs(u64::from(*seconds)));
            }
            Step::Fetch(bytes) => {
                fetch(active, &self.standby, *bytes);
            }
            Step::Copy(bytes) => {
                self.copy(*bytes);
            }
        }
    }

    fn hand_over(&self, n: u32, acked: bool) {
        let batch = now(self.active.forwardable(0, n, ALL));
        let mut handed = Handed::default();
        for message in batch {
            match acked {
                true => handed.acked.push(message.seq),
                false => handed.refused.push((message.seq, "REFUSED".into())),
            }
        }
        let met = identity(&self.central.to_string());
        assert!(now(self.active.handed_over(&met, handed)));
    }

    /// One part of a whole copy, then the next table; whether there was anything left to copy.
    fn copy(&mut self, bytes: usize) -> bool {
        let Some(table) = Table::ALL.get(self.copy.table) else {
            fetch(&self.active, &self.late, bytes);
            return false;
        };
        if self.copy.table == 0 && self.copy.after.is_none() {
            let node = now(self.active.node());
            now(self.late.copy_begins(node.position, node.history, false, None));
        }
        let part = now(self.active.copy_part(*table, self.copy.after.clone(), bytes));
        now(self.late.put_part(*table, part.rows));
        self.copy.after = part.next;
        if self.copy.after.is_none() {
            self.copy.table += 1;
        }
        true
    }
}

fn fetch(from: &Buffer, to: &Buffer, bytes: usize) -> bool {
    let position = to.standing().unwrap().position;
    let changes = now(from.changes(position, bytes)).expect("the log goes back so far");
    let all = changes.are_all();
    now(to.apply(changes));
    all
}

/// Every row that is copied, and the numbers that were given out.
fn tables(file: &Path) -> Vec<(String, Vec<Vec<Value>>)> {
    let conn = Connection::open(file).unwrap();
    let dump = |name: &str, sql: &str| {
        let mut statement = conn.prepare(sql).unwrap();
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..columns).map(|i| row.get::<_, Value>(i)).collect())
            .unwrap();
        (
            name.to_owned(),
            rows.collect::<Result<Vec<Vec<Value>>, _>>().unwrap(),
        )
    };
    let mut all: Vec<_> = [
        "sf_messages",
        "tombstones",
        "operation_tracking",
        "site_events",
        "telemetry",
    ]
    .iter()
    .map(|table| dump(table, &format!("select * from {table} order by 1")))
    .collect();
    all.push(dump(
        "meta",
        "select * from meta where key in ('central', 'forgotten_until', 'op') order by 1",
    ));
    all.push(dump(
        "sequences",
        "select name, seq from sqlite_sequence where name in ('sf_messages', 'site_events', 'telemetry') and seq > 0 order by 1",
    ));
    all
}

fn cases() -> u32 {
    match std::env::var("WAYPOST_TEST_SIZE").as_deref() {
        Ok("soak") => 2_000,
        _ => 48,
    }
}

proptest! {
    #![proptest_config(Config { cases: cases(), failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() })]

    #[test]
    fn any_history_fetched_in_pieces_or_after_a_whole_copy_gives_equal_tables(steps in steps()) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        while !fetch(&world.active, &world.standby, 700) {}
        while world.copy(700) {}
        while !fetch(&world.active, &world.late, ALL) {}
        for copy in [&world.standby, &world.late] {
            assert!(copy.standing().unwrap().caught_up);
            assert_eq!(tables(copy.path()), tables(world.active.path()));
            assert_eq!(copy.depth(), now(copy.recount()), "the gauge is the file's");
        }
    }
}

/// A buffer that is active, with its place.
pub async fn an_active() -> (Place, Buffer) {
    let place = Place::new();
    let buffer = place.open();
    buffer.join_pair().await.unwrap();
    buffer.promote(0, false).await.unwrap();
    (place, buffer)
}

pub async fn an_attached(active: &Buffer) -> (Place, Buffer) {
    let place = Place::new();
    let buffer = place.open();
    buffer.join_pair().await.unwrap();
    let node = active.node().await.unwrap();
    buffer
        .copy_begins(node.position, node.history, false, None)
        .await
        .unwrap();
    for table in Table::ALL {
        let part = active.copy_part(table, None, ALL).await.unwrap();
        assert_eq!(part.next, None);
        buffer.put_part(table, part.rows).await.unwrap();
    }
    (place, buffer)
}

pub async fn follow_to_the_end(active: &Buffer, standby: &Buffer) {
    let position = standby.standing().unwrap().position;
    let changes = active.changes(position, ALL).await.unwrap().unwrap();
    standby.apply(changes).await.unwrap();
}

#[tokio::test]
async fn a_send_makes_as_many_commits_with_another_machine_as_without() {
    let (alone, (_place, active)) = (Place::new(), an_active().await);
    let alone_buffer = alone.open();
    let (_other, standby) = an_attached(&active).await;
    let mut commits = vec![];
    for buffer in [&alone_buffer, &active] {
        let before = buffer.commits();
        for n in 0..1_000 {
            put(buffer, a_message(Category::Notification, "ops")).await;
            if n % 100 == 0 && buffer.standing().is_some() {
                follow_to_the_end(&active, &standby).await;
                let has = standby.standing().unwrap().position;
                active.trim_log(has, 1_000_000).await.unwrap();
            }
        }
        commits.push(buffer.commits() - before);
    }
    assert_eq!(commits[0], commits[1]);
}

#[tokio::test]
async fn without_another_machine_there_is_no_log() {
    let place = Place::new();
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    assert_eq!(buffer.head().await.unwrap(), 0);
    buffer.join_pair().await.unwrap();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    let head = buffer.head().await.unwrap();
    assert!(head > 0);
    buffer.leave_pair().await.unwrap();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    assert_eq!(buffer.head().await.unwrap(), head);
    assert_eq!(buffer.standing(), None);
}

#[tokio::test]
async fn a_file_that_holds_something_is_active_in_its_new_pair_and_an_empty_one_is_not() {
    let place = Place::new();
    let buffer = place.open();
    assert_eq!(buffer.join_pair().await.unwrap().role, Role::Standby);
    let used = Place::new();
    let buffer = used.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    let standing = buffer.join_pair().await.unwrap();
    assert_eq!(standing.role, Role::Active);
    buffer.close().await;
    drop(buffer);
    assert_eq!(used.open().standing(), Some(standing), "also after a restart");
}

#[tokio::test]
async fn what_was_not_logged_is_not_fetched_from_the_log() {
    let place = Place::new();
    let buffer = place.open();
    put(&buffer, a_message(Category::Notification, "ops")).await;
    buffer.join_pair().await.unwrap();
    assert_eq!(buffer.changes(0, ALL).await.unwrap(), None);
    let position = buffer.node().await.unwrap().position;
    assert!(buffer.changes(position, ALL).await.unwrap().is_some());
    assert_eq!(buffer.changes(position + 1, ALL).await.unwrap(), None);
}

#[tokio::test]
async fn a_call_that_ended_at_the_other_machine_is_not_made_again() {
    let (_place, active) = an_active().await;
    let (_copy, standby) = an_attached(&active).await;
    put(&active, a_message(Category::ExternalSystem, "erp")).await;
    follow_to_the_end(&active, &standby).await;
    let fork = standby.standing().unwrap().position;
    standby.promote(0, false).await.unwrap();
    let claimed = active
        .claim_due(Category::ExternalSystem, "erp", 1)
        .await
        .unwrap();
    let delivered = Attempted {
        ticket: claimed[0].ticket(),
        step: Outcome::Delivered,
        started_at: active.now(),
        took: Duration::ZERO,
        http_status: None,
    };
    active.record(vec![delivered]).await.unwrap();
    let changes = active.changes(fork, ALL).await.unwrap().unwrap();
    let tracked = changes.rows.into_iter().filter(|(t, _)| *t == Table::Tracking);
    let ended: Vec<_> = tracked
        .map(|(_, row)| row)
        .filter(replication::has_ended)
        .collect();
    assert_eq!(standby.depth().waiting(), 1);
    assert_eq!(standby.take_ended(ended.clone()).await.unwrap(), 1);
    assert_eq!(standby.take_ended(ended).await.unwrap(), 0, "once is enough");
    assert_eq!(standby.depth().waiting(), 0);
    let id = domain::TrackedOperationId(claimed[0].id.0);
    let tracked = standby.tracking(id).await.unwrap().unwrap();
    assert_eq!(tracked.status, domain::site::OperationStatus::Delivered);
}

#[tokio::test]
async fn whoever_takes_over_goes_on_with_numbers_that_were_never_given() {
    let (_place, active) = an_active().await;
    let (place, standby) = an_attached(&active).await;
    let first = put(&active, a_message(Category::Notification, "ops")).await;
    let gone = put(&active, a_message(Category::ExternalSystem, "erp")).await;
    let claimed = active
        .claim_due(Category::ExternalSystem, "erp", 1)
        .await
        .unwrap();
    let delivered = Attempted {
        ticket: claimed[0].ticket(),
        step: Outcome::Delivered,
        started_at: active.now(),
        took: Duration::ZERO,
        http_status: None,
    };
    active.record(vec![delivered]).await.unwrap();
    follow_to_the_end(&active, &standby).await;
    let news = active.telemetry(10).await.unwrap();
    let highest = news.iter().map(|(_, news)| news.revision).max().unwrap();

    let before = standby.standing().unwrap();
    let after = standby.promote(0, false).await.unwrap();
    assert_eq!(after.role, Role::Active);
    assert!(after.history.rank() > before.history.rank());
    standby.close().await;
    drop(standby);
    let taken_over = place.open();
    let next = put(&taken_over, a_message(Category::ExternalSystem, "erp")).await;
    assert!(next.seq > gone.seq && gone.seq > first.seq);
    assert_eq!(after.history.last().unwrap().first_message, next.seq);
    let newest = taken_over.telemetry(10).await.unwrap();
    assert!(newest.iter().any(|(_, news)| news.revision > highest + (1 << 39)));
    assert!(taken_over.changes(before.position, ALL).await.unwrap().is_some());
}

#[tokio::test]
async fn a_machine_that_was_active_as_well_hands_in_what_only_it_accepted() {
    let (_place, old) = an_active().await;
    let (_other, new) = an_attached(&old).await;
    let shared = a_message(Category::ExternalSystem, "erp");
    let shared_id = shared.id;
    put(&old, shared).await;
    follow_to_the_end(&old, &new).await;
    new.promote(0, false).await.unwrap();
    let alone = a_message(Category::ExternalSystem, "erp");
    let alone_id = alone.id;
    put(&old, alone).await;
    old.step_down().await.unwrap();

    let plan = match old.node().await.unwrap().meets(&new.node().await.unwrap()) {
        domain::pair::Meeting::Follow(domain::pair::Plan::HandInAndCopy { first_message, .. }) => {
            first_message
        }
        other => panic!("{other:?}"),
    };
    let after = Some(domain::pair::Value::Integer(plan - 1));
    let part = old.copy_part(Table::Messages, after, ALL).await.unwrap();
    assert_eq!(part.rows.len(), 1, "what both knew is not handed in");
    for (taken, known) in [(1, 0), (0, 1)] {
        let done = new.take_handed_in(part.rows.clone()).await.unwrap();
        assert_eq!((done.taken, done.known, done.lost), (taken, known, 0));
    }
    assert!(get(&new, alone_id).await.is_some() && get(&new, shared_id).await.is_some());
    assert_eq!(new.depth(), new.recount().await.unwrap());
}

#[tokio::test]
async fn a_planned_handover_needs_no_copy() {
    let (_place, old) = an_active().await;
    let (_other, new) = an_attached(&old).await;
    put(&old, a_message(Category::Notification, "ops")).await;
    let stepped_down = old.step_down().await.unwrap();
    follow_to_the_end(&old, &new).await;
    assert_eq!(new.standing().unwrap().position, stepped_down.position);
    new.promote(stepped_down.history.rank().0, false).await.unwrap();
    put(&new, a_message(Category::Notification, "ops")).await;
    let met = old.node().await.unwrap().meets(&new.node().await.unwrap());
    let expected = domain::pair::Plan::Changes {
        after: stepped_down.position,
    };
    assert_eq!(met, domain::pair::Meeting::Follow(expected));
    old.follow(new.standing().unwrap().history, false, None)
        .await
        .unwrap();
    follow_to_the_end(&new, &old).await;
    assert_eq!(old.depth(), new.depth());
}

#[tokio::test]
async fn a_machine_that_is_away_for_too_long_finds_no_log() {
    let (_place, active) = an_active().await;
    let begun = active.node().await.unwrap().position;
    for _ in 0..3 {
        put(&active, a_message(Category::Notification, "ops")).await;
    }
    let head = active.head().await.unwrap();
    assert!(
        !active.trim_log(head, 1_000).await.unwrap(),
        "not for a few lines"
    );
    assert!(active.trim_log(begun, 2).await.unwrap());
    assert_eq!(active.changes(begun, ALL).await.unwrap(), None);
}

#[tokio::test]
async fn a_full_disk_costs_the_log_before_it_costs_a_message() {
    let (_place, active) = an_active().await;
    for _ in 0..2_000 {
        put(&active, a_message(Category::Notification, "ops")).await;
    }
    let begun = active.standing().unwrap().position;
    assert!(active.changes(begun, 1).await.unwrap().is_some());
    let file = Connection::open(active.path()).unwrap();
    let pages: u32 = file.query_row("pragma page_count", [], |row| row.get(0)).unwrap();
    active.limit_pages(Some(pages)).await.unwrap();
    let mut n = 0;
    while active.changes(begun, 1).await.unwrap().is_some() {
        let taken = active
            .enqueue(a_message(Category::Notification, "ops"), Start::Queued)
            .await
            .unwrap();
        assert!(matches!(taken, Enqueued::New(_)), "{n}: {taken:?}");
        n += 1;
        assert!(n < 5_000, "the disk was never full");
    }
    assert_eq!(active.refusing(), None);
}

#[tokio::test]
async fn a_whole_copy_takes_the_place_of_the_file_and_the_old_one_stays_beside_it() {
    let (_place, active) = an_active().await;
    let message = a_message(Category::Notification, "ops");
    let id = message.id;
    put(&active, message).await;
    let place = Place::new();
    let old = place.open();
    let (side, clock) = (side_file(&place.file()).unwrap(), place.clock.clone());
    let copy = Buffer::open(&Options::at(&side), clock.clone()).unwrap();
    let node = active.node().await.unwrap();
    copy.copy_begins(node.position, node.history, false, None)
        .await
        .unwrap();
    let part = active.copy_part(Table::Messages, None, ALL).await.unwrap();
    copy.put_part(Table::Messages, part.rows).await.unwrap();
    assert!(
        put_in_place(&place.file(), true, clock.as_ref()).is_err(),
        "not while they are open"
    );
    old.close().await;
    copy.close().await;
    drop((old, copy));
    let kept = put_in_place(&place.file(), true, clock.as_ref())
        .unwrap()
        .unwrap();
    assert!(kept.exists());
    let now = place.open();
    assert!(get(&now, id).await.is_some());
    assert_eq!(now.set_aside(), None);
}

#[tokio::test]
async fn an_active_one_vouches_for_whom_it_met_while_nobody_had_anything_of_its_file() {
    let place = Place::new();
    let active = place.open();
    active.join_pair().await.unwrap();
    active.promote(0, true).await.unwrap();
    let [first, second] = [Uuid::new_v4(), Uuid::new_v4()];
    active.other_is_there(Some(first)).await.unwrap();
    let standing = active.standing().unwrap();
    assert_eq!((standing.sole, standing.vouches), (false, Some(first)));
    active.other_is_there(Some(second)).await.unwrap();
    let standing = active.standing().unwrap();
    assert_eq!(standing.vouches, Some(first), "somebody has a copy by now");
    active.vouch_for(second).await.unwrap();
    assert_eq!(active.node().await.unwrap().vouches, Some(second));
    active.step_down().await.unwrap();
    active.vouch_for(first).await.unwrap();
    assert_eq!(active.standing().unwrap().vouches, None, "its turn is over");
}

#[tokio::test]
async fn who_joined_empty_keeps_that_in_mind_until_it_is_vouched_for_or_takes_over_fresh() {
    let (_place, active) = an_active().await;
    let node = active.node().await.unwrap();
    let joined = Some(Uuid::new_v4());
    for (stale, kept) in [(true, joined), (false, None)] {
        let place = Place::new();
        let copy = place.open();
        copy.copy_begins(node.position, node.history.clone(), false, joined)
            .await
            .unwrap();
        let before = copy.standing().unwrap();
        assert_eq!(before.joined, joined);
        let turn = (9, Uuid::new_v4());
        let after = copy.take_turn(&before, turn, stale).await.unwrap();
        assert_eq!((after.joined, after.stale), (kept, stale));
    }
}

#[tokio::test]
async fn a_turn_is_not_begun_by_a_file_that_has_stepped_down_since_it_asked() {
    let (_place, active) = an_active().await;
    let asked = active.standing().unwrap();
    active.step_down().await.unwrap();
    let turn = (9, Uuid::new_v4());
    assert!(active.take_turn(&asked, turn, false).await.is_err());
    assert_eq!(active.standing().unwrap().role, Role::Standby);
}
