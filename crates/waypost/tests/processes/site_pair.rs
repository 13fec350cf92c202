//! Two agents of one site in processes of their own: the active one is killed and its disk thrown away, and the other takes
//! its place.

use crate::{
    site_agent::{AgentProcess, SiteSetup},
    site_until::{is_a, is_whole, obeys, pair_of, until, waypost},
    size::pick,
};
use client::{NotificationId, site::Notify};
use domain::{
    SystemClock,
    pair::{Changes, History, Row, RowValue, Table},
};
use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};
use store::{Buffer, buffer::Options};
use testkit::ports::an_address;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Sent before the active one is killed.
const SENT: usize = 300;

fn setups(folder: &Path) -> [SiteSetup; 2] {
    let at = [(), ()].map(|()| an_address());
    let setup = |name: &str, here: usize| {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        SiteSetup {
            id: "north".into(),
            folder,
            // Nobody is there: what is sent stays.
            central: "http://127.0.0.1:1".into(),
            key: "wps_a_key_of_this_site".into(),
            more: format!(
                "node = {name:?}\n[site.replication]\nlisten = \"{}\"\npeer = \"http://{}\"\n",
                at[here],
                at[1 - here]
            ),
        }
    };
    [setup("north-a", 0), setup("north-b", 1)]
}

async fn is_kept(agent: &AgentProcess, id: NotificationId) -> bool {
    let there = agent.site.status(id).await;
    there.is_ok_and(|there| there.status == "Forwarding")
}

/// They send one message after the other, whether or not somebody answers.
struct Senders {
    acknowledged: Arc<Mutex<Vec<NotificationId>>>,
    stop: CancellationToken,
    all: JoinSet<()>,
}

impl Senders {
    fn start(agent: &AgentProcess) -> Self {
        let (acknowledged, stop) = (Arc::new(Mutex::new(vec![])), CancellationToken::new());
        let mut all = JoinSet::new();
        for n in 0..4 {
            let (site, acknowledged, stop) = (agent.site.clone(), acknowledged.clone(), stop.clone());
            all.spawn(async move {
                let sent = Notify::to("ops").instance(format!("tank-{n}"));
                while !stop.is_cancelled() {
                    match sent.clone().send(&site, "Tank is full", "Level 98 %").await {
                        Ok(id) => acknowledged.lock().unwrap().push(id),
                        Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                    }
                }
            });
        }
        Self {
            acknowledged,
            stop,
            all,
        }
    }

    fn acknowledged(&self) -> Vec<NotificationId> {
        self.acknowledged.lock().unwrap().clone()
    }

    async fn take_some(&self, agent: &AgentProcess) {
        until("messages to be taken in", agent, async || {
            self.acknowledged.lock().unwrap().len() >= SENT
        })
        .await;
    }

    /// What was acknowledged.
    async fn end(mut self) -> Vec<NotificationId> {
        self.stop.cancel();
        while let Some(sender) = self.all.join_next().await {
            sender.unwrap();
        }
        self.acknowledged()
    }
}

/// A message, by its place and its id.
pub type Placed = (i64, NotificationId);

fn id_of(value: Option<RowValue<'_>>) -> NotificationId {
    match value {
        Some(RowValue::Text(text)) => std::str::from_utf8(text).unwrap().parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn placed(row: &Row) -> Placed {
    match row.first() {
        Some(RowValue::Integer(place)) => (place, id_of(row.get(1))),
        other => panic!("{other:?}"),
    }
}

/// The file of a machine that is gone.
pub struct LookedInto {
    /// Its messages.
    pub all: Vec<Placed>,
    /// Messages and tracked operations that were taken in, or changed, after a change.
    pub late: HashSet<NotificationId>,
    /// Rows that changed after it.
    pub changes: usize,
    /// The turns it has lived through.
    history: History,
}

impl LookedInto {
    /// What the other lacked when this machine took over in this turn was taken in after everything that this one had then.
    pub fn were_born_after(&self, turn: u64, missing: &[Placed]) {
        let epochs = self.history.epochs();
        let begun = epochs.iter().find(|epoch| epoch.counter == turn).unwrap();
        for (place, id) in missing {
            assert!(
                *place >= begun.first_message,
                "{id} at {place} was born before {begun:?}"
            );
        }
    }
}

/// What is in it, and what of that came after this change.
pub async fn looked_into(file: &Path, after: i64) -> LookedInto {
    let buffer = Buffer::open(&Options::at(file), Arc::new(SystemClock)).unwrap();
    let (mut all, mut next) = (vec![], None);
    loop {
        let part = buffer.copy_part(Table::Messages, next, usize::MAX).await.unwrap();
        all.extend(part.rows.iter().map(placed));
        next = part.next;
        if next.is_none() {
            break;
        }
    }
    let mut changes = Changes {
        to: after,
        head: i64::MAX,
        ..Changes::default()
    };
    let (mut late, mut rows) = (HashSet::new(), 0);
    while !changes.are_all() {
        changes = buffer.changes(changes.to, usize::MAX).await.unwrap().unwrap();
        rows += changes.rows.len() + changes.gone.len();
        late.extend(changes.rows.iter().filter_map(|(table, row)| match table {
            Table::Messages => Some(id_of(row.get(1))),
            Table::Tracking => Some(id_of(row.first())),
            _ => None,
        }));
    }
    let history = buffer.standing().unwrap().history;
    buffer.close().await;
    LookedInto {
        all,
        late,
        changes: rows,
        history,
    }
}

/// Every row that the copy of a machine has, as its file has it.
pub async fn contents(file: &Path) -> Vec<(Table, Vec<Row>)> {
    let buffer = Buffer::open(&Options::at(file), Arc::new(SystemClock)).unwrap();
    let mut all = vec![];
    for table in Table::ALL {
        let (mut rows, mut next) = (vec![], None);
        loop {
            let part = buffer.copy_part(table, next, usize::MAX).await.unwrap();
            rows.extend(part.rows);
            next = part.next;
            if next.is_none() {
                break;
            }
        }
        all.push((table, rows));
    }
    buffer.close().await;
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_lost_machine_had_and_its_standby_lacks_was_taken_in_after_the_last_copy() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = setups(folder.path());
    let mut active = (AgentProcess::start(&first).await, first);
    let mut standby = (AgentProcess::start(&second).await, second);
    is_a("Standby", &active.0).await;
    until("the other to be asked", &active.0, async || {
        active
            .0
            .site
            .pair()
            .await
            .is_ok_and(|pair| pair.other.role.is_some())
    })
    .await;
    obeys(&active.0, &["site", "promote"]).await;
    is_a("Active", &active.0).await;
    // Looked for once: nothing leaves these buffers.
    let mut known = HashSet::new();
    let mut before: Option<(u64, Vec<Placed>)> = None;
    for _ in 0..pick(3, 100) {
        is_whole(&standby.0).await;
        let sending = Senders::start(&active.0);
        sending.take_some(&active.0).await;
        // However slowly it follows, some of this round is there: what it lacks is looked at.
        let first = sending.acknowledged()[0];
        until("the standby to follow", &standby.0, async || {
            is_kept(&standby.0, first).await
        })
        .await;
        active.0.kill();
        let acknowledged = sending.end().await;
        let refused = waypost(&standby.0, &["site", "promote"]);
        assert!(
            !refused.status.success(),
            "nobody knows whether the other one runs"
        );
        let position = pair_of(&standby.0).await.position;
        obeys(&standby.0, &["site", "promote", "--force"]).await;
        is_a("Active", &standby.0).await;
        // Its disk is thrown away; here it is looked at before.
        let gone = active.1.folder.with_extension("gone");
        std::fs::rename(&active.1.folder, &gone).unwrap();
        let looked = looked_into(&gone.join("north.db"), position).await;
        if let Some((turn, missing)) = before.take() {
            looked.were_born_after(turn, &missing);
        }
        let had: HashSet<_> = looked.all.iter().map(|(_, id)| *id).collect();
        for id in &acknowledged {
            assert!(had.contains(id), "{id} was acknowledged and is not in the file");
        }
        let (mut missing, known_before) = (vec![], known.len());
        for (place, id) in &looked.all {
            if !known.contains(id) && !is_kept(&standby.0, *id).await {
                assert!(looked.late.contains(id), "{id} was copied and is gone");
                missing.push((*place, *id));
            } else {
                known.insert(*id);
            }
        }
        assert!(known.len() > known_before, "the standby had got nothing");
        let kept = usize::try_from(standby.0.site.health().await.unwrap().waiting).unwrap();
        assert_eq!(kept + missing.len(), looked.all.len());
        before = Some((pair_of(&standby.0).await.epoch, missing));
        std::fs::remove_dir_all(&gone).unwrap();
        std::fs::create_dir_all(&active.1.folder).unwrap();
        let back = (AgentProcess::start(&active.1).await, active.1);
        active = std::mem::replace(&mut standby, back);
    }
    is_whole(&standby.0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handover_by_command_refuses_senders_for_a_moment_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = setups(folder.path());
    let (a, b) = (
        AgentProcess::start(&first).await,
        AgentProcess::start(&second).await,
    );
    until("the other to be asked", &a, async || {
        a.site.pair().await.is_ok_and(|pair| pair.other.role.is_some())
    })
    .await;
    obeys(&a, &["site", "promote"]).await;
    is_a("Active", &a).await;
    is_whole(&b).await;
    let sending = Senders::start(&a);
    sending.take_some(&a).await;
    obeys(&a, &["site", "demote"]).await;
    is_a("Active", &b).await;
    is_a("Standby", &a).await;
    for id in &sending.end().await {
        // It may just be starting anew as the active one.
        until("what was acknowledged to be there", &b, async || {
            is_kept(&b, *id).await
        })
        .await;
    }
    let passed_on = Notify::to("ops").send(&a.site, "to the standby", "x");
    let passed_on = passed_on.await.unwrap();
    // Passed on at once, or kept for as long as the new active one could not be asked.
    until("the active one to have it", &b, async || {
        is_kept(&b, passed_on).await
    })
    .await;
    is_whole(&a).await;
    let shown = waypost(&a, &["site", "pair"]);
    let said = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        said.contains("this machine  Standby") && said.contains("north-b, Active"),
        "{said}"
    );
}
