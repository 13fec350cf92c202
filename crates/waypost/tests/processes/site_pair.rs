//! Two agents of one site in processes of their own: the active one is killed and its disk thrown away, and the other takes
//! its place.

use crate::{
    site_agent::{AgentProcess, SiteSetup},
    size::pick,
};
use client::{NotificationId, site::Notify};
use domain::{
    SystemClock,
    pair::{Changes, History, Table, Value, change::Row},
};
use std::{
    collections::HashSet,
    path::Path,
    process::{Command, Output},
    sync::{Arc, Mutex},
    time::Duration,
};
use store::{Buffer, buffer::Options};
use testkit::ports::an_address;

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

pub fn waypost(agent: &AgentProcess, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(args)
        .env("WAYPOST_SITE_URL", agent.site.url())
        .output()
        .unwrap()
}

pub fn done(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
}

pub async fn until(what: &str, agent: &AgentProcess, mut is_so: impl AsyncFnMut() -> bool) {
    // At full size the machine may have other things to do for minutes.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(pick(60, 600));
    while !is_so().await {
        assert!(
            tokio::time::Instant::now() < deadline,
            "waited for: {what}; log:\n{}",
            agent.log_tail()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub async fn is_a(role: &str, agent: &AgentProcess) {
    until(role, agent, async || {
        agent.site.pair().await.is_ok_and(|pair| pair.role == role)
    })
    .await;
}

/// The standby has everything that the active has.
pub async fn is_whole(standby: &AgentProcess) {
    until("the copy to be complete", standby, async || {
        let pair = standby.site.pair().await;
        pair.is_ok_and(|pair| pair.role == "Standby" && pair.caught_up && pair.behind == Some(0))
    })
    .await;
}

async fn is_kept(agent: &AgentProcess, id: NotificationId) -> bool {
    let there = agent.site.status(id).await;
    there.is_ok_and(|there| there.status == "Forwarding")
}

/// Sends until somebody stops answering; what was acknowledged.
fn senders(agent: &AgentProcess) -> (Arc<Mutex<Vec<NotificationId>>>, tokio::task::JoinSet<()>) {
    let acknowledged = Arc::new(Mutex::new(vec![]));
    let mut all = tokio::task::JoinSet::new();
    for n in 0..4 {
        let (site, acknowledged) = (agent.site.clone(), acknowledged.clone());
        all.spawn(async move {
            let sent = Notify::to("ops").instance(format!("tank-{n}"));
            while let Ok(id) = sent.clone().send(&site, "Tank is full", "Level 98 %").await {
                acknowledged.lock().unwrap().push(id);
            }
        });
    }
    (acknowledged, all)
}

/// A message, by its place and its id.
pub type Placed = (i64, NotificationId);

fn id_of(value: &Value) -> NotificationId {
    match value {
        Value::Text(text) => std::str::from_utf8(text).unwrap().parse().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn placed(row: &[Value]) -> Placed {
    match &row[0] {
        Value::Integer(place) => (*place, id_of(&row[1])),
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
        all.extend(part.rows.iter().map(|row| placed(row)));
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
            Table::Messages => Some(id_of(&row[1])),
            Table::Tracking => Some(id_of(&row[0])),
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
    done(&waypost(&active.0, &["site", "promote"]));
    is_a("Active", &active.0).await;
    // Looked for once: nothing leaves these buffers.
    let mut known = HashSet::new();
    let mut before: Option<(u64, Vec<Placed>)> = None;
    for _ in 0..pick(3, 100) {
        is_whole(&standby.0).await;
        let (acknowledged, mut sending) = senders(&active.0);
        until("messages to be taken in", &active.0, async || {
            acknowledged.lock().unwrap().len() >= SENT
        })
        .await;
        active.0.kill();
        while sending.join_next().await.is_some() {}
        let refused = waypost(&standby.0, &["site", "promote"]);
        assert!(
            !refused.status.success(),
            "nobody knows whether the other one runs"
        );
        let position = standby.0.site.pair().await.unwrap().position;
        done(&waypost(&standby.0, &["site", "promote", "--force"]));
        is_a("Active", &standby.0).await;
        // Its disk is thrown away; here it is looked at before.
        let gone = active.1.folder.with_extension("gone");
        std::fs::rename(&active.1.folder, &gone).unwrap();
        let looked = looked_into(&gone.join("north.db"), position).await;
        if let Some((turn, missing)) = before.take() {
            looked.were_born_after(turn, &missing);
        }
        let had: HashSet<_> = looked.all.iter().map(|(_, id)| *id).collect();
        for id in acknowledged.lock().unwrap().iter() {
            assert!(had.contains(id), "{id} was acknowledged and is not in the file");
        }
        let mut missing = vec![];
        for (place, id) in &looked.all {
            if !known.contains(id) && !is_kept(&standby.0, *id).await {
                assert!(looked.late.contains(id), "{id} was copied and is gone");
                missing.push((*place, *id));
            } else {
                known.insert(*id);
            }
        }
        assert!(missing.len() < SENT, "the standby had got nothing");
        let kept = usize::try_from(standby.0.site.health().await.unwrap().waiting).unwrap();
        assert_eq!(kept + missing.len(), looked.all.len());
        before = Some((standby.0.site.pair().await.unwrap().epoch, missing));
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
    done(&waypost(&a, &["site", "promote"]));
    is_a("Active", &a).await;
    is_whole(&b).await;
    let (acknowledged, mut sending) = senders(&a);
    until("messages to be taken in", &a, async || {
        acknowledged.lock().unwrap().len() >= SENT
    })
    .await;
    done(&waypost(&a, &["site", "demote"]));
    while sending.join_next().await.is_some() {}
    is_a("Active", &b).await;
    is_a("Standby", &a).await;
    let all = acknowledged.lock().unwrap().clone();
    for id in &all {
        // It may just be starting anew as the active one.
        until("what was acknowledged to be there", &b, async || {
            is_kept(&b, *id).await
        })
        .await;
    }
    let passed_on = Notify::to("ops")
        .send(&a.site, "to the standby", "x")
        .await
        .unwrap();
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
