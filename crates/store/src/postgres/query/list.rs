//! Pages of notifications. [`ListIndex`] chooses the index to walk, [`Paging`] when a page ends; candidates are looked at
//! in steps.

use super::{notification, sql};
use crate::{
    Result,
    list_index::{Keywords, ListIndex},
    paging::Paging,
    postgres::{
        failed::Failed,
        session::{Db, Params, Session, Tx},
        types::{self, At, millis},
    },
    query::{COUNT_LIMIT, Counted, Cursor, Filter, Listed, Notification, Page, SCAN_BOUND},
};
use domain::{TenantId, TextFilter, Timestamp};
use std::collections::{HashMap, HashSet};
use tokio_postgres::types::ToSql;

pub(super) async fn list(db: &Db, tenant: TenantId, filter: &Filter, page: &Page) -> Result<Listed, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let walk = Walk::new(db, &tx, tenant, filter);
    let mut paging = Paging::new(page);
    walk.through(page.after, &mut paging).await?;
    let (seqs, next) = paging.finish();
    let rows = walk.load(&seqs).await?;
    Ok(Listed { rows, next })
}

pub(super) async fn count(db: &Db, tenant: TenantId, filter: &Filter) -> Result<Counted, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let walk = Walk::new(db, &tx, tenant, filter);
    let index = walk.index;
    let start = index.start(filter, None);
    let (tenant, limit, from) = (&tenant.0, &(i64::from(COUNT_LIMIT) + 1), walk.from());
    match index {
        ListIndex::Time if index.answers_alone(filter) => {
            let params: Params<'_> = &[tenant, &from, &At(start.at), &start.seq, limit];
            walk.in_index(sql::count_by_time, params).await
        }
        ListIndex::Entity { kind, id } if index.answers_alone(filter) => {
            walk.in_index(sql::count_by_entity, &[tenant, &kind, &id, limit])
                .await
        }
        ListIndex::Execution(execution) if index.answers_alone(filter) => {
            walk.in_index(sql::count_by_execution, &[tenant, &execution, limit])
                .await
        }
        _ => {
            let mut paging = Paging::counting();
            walk.through(None, &mut paging).await?;
            Ok(paging.count())
        }
    }
}

struct Walk<'a> {
    db: &'a Db,
    tx: &'a Tx<'a>,
    tenant: TenantId,
    filter: &'a Filter,
    index: ListIndex<'a>,
    keywords: Keywords,
}

impl<'a> Walk<'a> {
    fn new(db: &'a Db, tx: &'a Tx<'a>, tenant: TenantId, filter: &'a Filter) -> Self {
        Self {
            db,
            tx,
            tenant,
            filter,
            index: ListIndex::serving(filter),
            keywords: Keywords::of(filter),
        }
    }

    /// Looks at one step of candidates after the other, newest first, until the page is full.
    async fn through(&self, after: Option<Cursor>, paging: &mut Paging<i64>) -> Result<(), Failed> {
        let mut place = self.index.start(self.filter, after);
        loop {
            let step = paging.step();
            let candidates = self.candidates(place, step).await?;
            let matching = self.matching(&candidates).await?;
            for candidate in &candidates {
                let row = matching.contains(&candidate.seq).then_some(candidate.seq);
                if paging.take(*candidate, row) {
                    return Ok(());
                }
                place = *candidate;
            }
            if candidates.len() < step {
                return Ok(());
            }
        }
    }

    async fn in_index(&self, statement: &'static str, params: Params<'_>) -> Result<Counted, Failed> {
        let counted = self.tx.one(statement, params).await?;
        Ok(Counted::in_index(types::count(counted.get(0))))
    }

    fn from(&self) -> At {
        At(self.filter.from.unwrap_or(Timestamp::from_millis(i64::MIN)))
    }

    /// The next ones after `place`, newest first.
    async fn candidates(&self, place: Cursor, wanted: usize) -> Result<Vec<Cursor>, Failed> {
        let (tenant, seq, wanted_rows) = (&self.tenant.0, &place.seq, &(wanted as i64));
        let numbered = |row: &tokio_postgres::Row| Cursor {
            at: Timestamp::EPOCH,
            seq: row.get(0),
        };
        let placed = |row: &tokio_postgres::Row| Cursor {
            at: row.get::<_, At>(1).0,
            seq: row.get(0),
        };
        match self.index {
            ListIndex::Unfinished { waiting, parked } => {
                let mut few = vec![];
                for (asked, statement) in [(waiting, sql::list_waiting), (parked, sql::list_parked)] {
                    if asked {
                        few.extend(
                            self.tx
                                .rows(statement, &[tenant, seq, wanted_rows])
                                .await?
                                .iter()
                                .map(numbered),
                        );
                    }
                }
                few.sort_unstable_by_key(|c| std::cmp::Reverse(c.seq));
                few.truncate(wanted);
                Ok(few)
            }
            ListIndex::Stuck(after) => {
                let (now, after, bound) = (self.db.now(), millis(after), &i64::from(SCAN_BOUND));
                let params: Params<'_> = &[&now, tenant, &after, seq, wanted_rows, bound];
                let found = self.tx.rows(sql::list_stuck, params).await?;
                Ok(found.iter().map(numbered).collect())
            }
            ListIndex::Ids(ids) => {
                let (first, last, bound) = (&ids.first.0, &ids.last.0, &i64::from(SCAN_BOUND));
                let params: Params<'_> = &[tenant, first, last, seq, wanted_rows, bound];
                let found = self.tx.rows(sql::list_by_id, params).await?;
                Ok(found.iter().map(numbered).collect())
            }
            ListIndex::Entity { kind, id } => {
                let found = self
                    .tx
                    .rows(sql::list_by_entity, &[tenant, &kind, &id, seq, wanted_rows])
                    .await?;
                Ok(found.iter().map(numbered).collect())
            }
            ListIndex::Execution(execution) => {
                let found = self
                    .tx
                    .rows(sql::list_by_execution, &[tenant, &execution, seq, wanted_rows])
                    .await?;
                Ok(found.iter().map(numbered).collect())
            }
            ListIndex::Time => {
                let from = self.from();
                let found = self
                    .tx
                    .rows(
                        sql::list_by_time,
                        &[tenant, &from, &At(place.at), seq, wanted_rows],
                    )
                    .await?;
                Ok(found.iter().map(placed).collect())
            }
        }
    }

    async fn matching(&self, candidates: &[Cursor]) -> Result<HashSet<i64>, Failed> {
        let seqs: Vec<i64> = candidates.iter().map(|c| c.seq).collect();
        let f = self.filter;
        let statuses: Vec<&str> = f.status.iter().map(|s| s.as_str()).collect();
        let statuses = (!statuses.is_empty()).then_some(statuses);
        let (now, channel, stuck) = (
            self.db.now(),
            f.channel.map(|c| c.as_str()),
            f.stuck_after.map(millis),
        );
        let words = self.keywords.any();
        let [from, to, ended_by] = [f.from, f.to, f.ended_by].map(|at| at.map(At));
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![
            &now,
            &self.tenant.0,
            &seqs,
            &statuses,
            &channel,
            &from,
            &to,
            &stuck,
            &ended_by,
            &words,
        ];
        let texts = TextFilter::ALL.iter().map(|one| f.by.get(one));
        params.extend(texts.map(|text| text as &(dyn ToSql + Sync)));
        let found = self.tx.rows(sql::list_match, &params).await?;
        let texts = [
            "subject",
            "recipients",
            "resolved_targets",
            "provider_message_id",
            "recipients_message_ids",
        ];
        let matching = found
            .iter()
            .filter(|row| self.keywords.are_in(texts.map(|name| row.get(name))));
        Ok(matching.map(|row| row.get("seq")).collect())
    }

    async fn load(&self, seqs: &[i64]) -> Result<Vec<Notification>, Failed> {
        let mut by_seq = HashMap::new();
        for row in self.tx.rows(sql::list_row, &[&seqs]).await? {
            by_seq.insert(row.get::<_, i64>("seq"), notification::from_row(&row)?);
        }
        Ok(seqs.iter().filter_map(|seq| by_seq.remove(seq)).collect())
    }
}
