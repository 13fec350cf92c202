//! Publishing: the fence, the notifications and the schedules of a batch in one transaction.
//!
//! Always true: one event the database refuses never fails its neighbours: the batch is halved until it stands alone, and
//! of one event each notification until the bad one does. Events of one entity are published in their order.

use super::sql;
use crate::{
    Result,
    events::{NewSchedule, PublishEvent, PublishSchedule, as_ingested},
    outbox::{Ingested, NewNotification},
    postgres::{
        commit_retry::CommitRetry,
        failed::Failed,
        outbox::{ingest_columns::Item, ingest_write},
        rows::to_json,
        server::Use,
        session::{Db, Session, Tx},
        types::At,
    },
};
use domain::{ScheduleStatus, event::ScheduledMessage};
use futures_util::future::join_all;
use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    time::Instant,
};

/// Of a backlog so many parts are published beside each other: one session of the server is one of its processors.
const BESIDE: usize = 3;
/// A part smaller than this is not worth a commit of its own.
const SMALLEST_PART: usize = 50;

/// What is to be published and by which fence.
pub(super) struct Work {
    fence: Fence,
    status: ScheduleStatus,
    last_error: Option<String>,
    messages: Vec<ScheduledMessage>,
    items: Vec<Item>,
    /// By place among the items: what the database refused when it stood alone.
    refused: Vec<Option<String>>,
}

enum Fence {
    Event { seq: i64, schedule: Box<NewSchedule> },
    Schedule { seq: i64, token: i64 },
}

impl Work {
    fn new(fence: Fence, status: ScheduleStatus, notifications: Vec<NewNotification>) -> Self {
        let items: Vec<_> = notifications.into_iter().map(Item::new).collect();
        Self {
            fence,
            status,
            last_error: None,
            messages: vec![],
            refused: vec![None; items.len()],
            items,
        }
    }

    fn seq(&self) -> i64 {
        match self.fence {
            Fence::Event { seq, .. } | Fence::Schedule { seq, .. } => seq,
        }
    }

    /// In which of so many parts it is published. All of an entity is in one of them: what follows from its events may
    /// be the same message, or wait for each other's dates.
    fn part(&self, parts: usize) -> usize {
        let Fence::Event { schedule, .. } = &self.fence else {
            return 0;
        };
        let mut hasher = DefaultHasher::new();
        (schedule.tenant.0, &schedule.entity_type, &schedule.entity_id).hash(&mut hasher);
        (hasher.finish() % parts as u64) as usize
    }
}

impl From<PublishEvent> for Work {
    fn from(event: PublishEvent) -> Self {
        let mut schedule = event.schedule;
        let (messages, last_error) = (std::mem::take(&mut schedule.messages), schedule.last_error.take());
        let (seq, status) = (event.seq, schedule.status);
        let schedule = Box::new(schedule);
        Self {
            messages,
            last_error,
            ..Self::new(Fence::Event { seq, schedule }, status, event.notifications)
        }
    }
}

impl From<PublishSchedule> for Work {
    fn from(due: PublishSchedule) -> Self {
        let fence = Fence::Schedule {
            seq: due.seq,
            token: due.token.0,
        };
        Self {
            messages: due.messages,
            last_error: due.last_error,
            ..Self::new(fence, due.status, due.notifications)
        }
    }
}

type Published = Vec<Option<Vec<Ingested>>>;

/// One answer per piece of work, in order.
pub(super) async fn publish(db: &Db, works: Vec<Work>) -> Result<Published, Failed> {
    let mut answers: Published = works.iter().map(|_| None).collect();
    let count = (works.len() / SMALLEST_PART).clamp(1, BESIDE);
    let mut parts: Vec<(Vec<usize>, Vec<Work>)> = (0..count).map(|_| Default::default()).collect();
    for (i, work) in works.into_iter().enumerate() {
        let (places, part) = &mut parts[work.part(count)];
        places.push(i);
        part.push(work);
    }
    // Each to its end, also beside one that fails: whoever is told of a failure asks what became of them.
    let ended = join_all(parts.into_iter().map(async |(places, part)| {
        let published = publish_part(db, part).await?;
        Ok::<_, Failed>(places.into_iter().zip(published))
    }));
    for part in ended.await {
        for (i, answer) in part? {
            answers[i] = answer;
        }
    }
    Ok(answers)
}

async fn publish_part(db: &Db, mut works: Vec<Work>) -> Result<Published, Failed> {
    // Everybody takes the rows in the same order, so that two nodes cannot deadlock.
    let mut answers: Published = works.iter().map(|_| None).collect();
    let mut order: Vec<usize> = (0..works.len()).collect();
    order.sort_by_key(|i| works[*i].seq());
    let mut parts = vec![order];
    while let Some(part) = parts.pop() {
        let chosen: Vec<&Work> = part.iter().map(|i| &works[*i]).collect();
        match commit(db, &chosen).await {
            Ok(published) => {
                for (i, answer) in part.into_iter().zip(published) {
                    answers[i] = answer;
                }
            }
            Err(Failed::Data(reason)) => match part.as_slice() {
                [] => {}
                [alone] => {
                    let Work { items, refused, .. } = &mut works[*alone];
                    find_refused(db, items, refused, reason).await?;
                    parts.push(part);
                }
                several => {
                    let (left, right) = several.split_at(several.len() / 2);
                    parts.push(right.to_vec());
                    parts.push(left.to_vec());
                }
            },
            Err(failed) => return Err(failed),
        }
    }
    Ok(answers)
}

/// Tries each notification in a transaction that is undone, to learn which one is refused. By place among the items.
pub(super) async fn find_refused(
    db: &Db,
    items: &[Item],
    refused: &mut [Option<String>],
    reason: String,
) -> Result<(), Failed> {
    let mut found = false;
    for (item, refused) in items.iter().zip(refused) {
        if refused.is_some() {
            continue;
        }
        let mut session = db.general().await?;
        let tx = session.begin().await?;
        match ingest_write::ingest_in(db, &tx, &[item]).await {
            Ok(_) => tx.rollback().await?,
            Err(Failed::Data(why)) => {
                found = true;
                *refused = Some(why);
            }
            Err(failed) => return Err(failed),
        }
    }
    match found {
        true => Ok(()),
        // Not a notification: what is written of the schedule itself, which is the event's own trouble.
        false => Err(Failed::Data(reason)),
    }
}

/// Commits a part. A connection that breaks meanwhile is asked about by sending the same again: what was published by the
/// first try is then nobody's, and its notifications are found by their ids the next time somebody looks.
async fn commit(db: &Db, works: &[&Work]) -> Result<Published, Failed> {
    let (mut retry, started) = (CommitRetry::new("publish"), Instant::now());
    loop {
        match once(db, works).await {
            Ok(published) => {
                db.claim_starts.stored(started.elapsed());
                return Ok(published);
            }
            Err(failed) => retry.after(failed).await?,
        }
    }
}

async fn once(db: &Db, works: &[&Work]) -> Result<Published, Failed> {
    let mut session = db.session(Use::Record).await?;
    let tx = session.begin().await?;
    let ours = fence(db, &tx, works).await?;
    let mut seen = HashSet::new();
    let mut fresh: Vec<&Item> = vec![];
    for work in works.iter().filter(|work| ours.contains(&work.seq())) {
        let open = work
            .items
            .iter()
            .zip(&work.refused)
            .filter(|(_, refused)| refused.is_none());
        fresh.extend(open.map(|(item, _)| item).filter(|item| seen.insert(item.key())));
    }
    let found = ingest_write::ingest_in(db, &tx, &fresh).await?;
    let mut told = HashSet::new();
    let mut answer = |item: &Item, refused: &Option<String>| match refused {
        Some(why) => Ingested::Refused(why.clone()),
        None if told.insert(item.key()) => found.answer(item),
        // The same message twice in one batch: the first one has it.
        None => Ingested::Duplicate {
            same_content: true,
            status: Some(domain::Status::Pending),
        },
    };
    let mut published: Published = vec![];
    for work in works {
        published.push(ours.contains(&work.seq()).then(|| {
            let items = work.items.iter().zip(&work.refused);
            items.map(|(item, refused)| answer(item, refused)).collect()
        }));
    }
    write_schedules(db, &tx, works, &published).await?;
    tx.commit().await?;
    Ok(published)
}

/// The numbers of those that nobody else had.
async fn fence(db: &Db, tx: &Tx<'_>, works: &[&Work]) -> Result<HashSet<i64>, Failed> {
    let (mut events, mut tenants) = (vec![], vec![]);
    let (mut kinds, mut entities) = (vec![], vec![]);
    let (mut due, mut tokens, mut statuses, mut errors) = (vec![], vec![], vec![], vec![]);
    for work in works {
        match &work.fence {
            Fence::Event { seq, schedule } => {
                events.push(*seq);
                tenants.push(schedule.tenant.0);
                kinds.push(schedule.entity_type.as_str());
                entities.push(schedule.entity_id.as_str());
            }
            Fence::Schedule { seq, token } => {
                due.push(*seq);
                tokens.push(*token);
                statuses.push(work.status.as_str());
                errors.push(work.last_error.as_deref());
            }
        }
    }
    let mut ours = vec![];
    if !events.is_empty() {
        ours.extend(
            tx.rows(sql::publish_event, &[&db.now(), &events, &tenants])
                .await?,
        );
        let entities = &[&db.now() as _, &tenants as _, &kinds as _, &entities as _];
        tx.exec(sql::touch_schedules, entities).await?;
    }
    if !due.is_empty() {
        let params: crate::postgres::session::Params<'_> = &[&db.now(), &due, &tokens, &statuses, &errors];
        ours.extend(tx.rows(sql::publish_schedule, params).await?);
    }
    Ok(ours.iter().map(|row| row.get(0)).collect())
}

async fn write_schedules(db: &Db, tx: &Tx<'_>, works: &[&Work], published: &Published) -> Result<(), Failed> {
    let mut new: Vec<(&Work, i64, &NewSchedule, String)> = vec![];
    let (mut due, mut due_messages) = (vec![], vec![]);
    for (work, answers) in works.iter().zip(published) {
        let Some(answers) = answers else { continue };
        let messages = to_json(&as_ingested(work.messages.clone(), answers))?;
        match &work.fence {
            Fence::Event { seq, schedule } => new.push((work, *seq, schedule, messages)),
            Fence::Schedule { seq, .. } => {
                due.push(*seq);
                due_messages.push(messages);
            }
        }
    }
    if !due.is_empty() {
        tx.exec(sql::schedule_messages, &[&due, &due_messages]).await?;
    }
    if new.is_empty() {
        return Ok(());
    }
    fn column<'a, T>(
        new: &'a [(&'a Work, i64, &'a NewSchedule, String)],
        value: impl Fn(&'a (&'a Work, i64, &'a NewSchedule, String)) -> T,
    ) -> Vec<T> {
        new.iter().map(value).collect()
    }
    tx.exec(
        sql::insert_schedule,
        &[
            &db.now(),
            &column(&new, |(_, _, s, _)| s.tenant.0),
            &column(&new, |(_, _, s, _)| s.event.0),
            &column(&new, |(_, seq, ..)| *seq),
            &column(&new, |(_, _, s, _)| s.event_type.as_str()),
            &column(&new, |(_, _, s, _)| s.entity_type.as_str()),
            &column(&new, |(_, _, s, _)| s.entity_id.as_str()),
            &column(&new, |(work, ..)| work.status.as_str()),
            &column(&new, |(_, _, s, _)| At(s.due_at)),
            &column(&new, |(_, _, s, _)| s.next_look_at.map(At)),
            &column(&new, |(work, ..)| work.last_error.as_deref()),
            &column(&new, |(.., messages)| messages.as_str()),
        ],
    )
    .await?;
    Ok(())
}
