//! Pages of notifications. A filter chooses the index to walk; candidates are looked at newest first, in steps, and
//! no page looks at more than [`SCAN_BOUND`].
//!
//! Always true: the candidates of a filter come in one total order, so pages have neither gaps nor repeats.

use super::{notification, sql};
use crate::{
    Result,
    postgres::{
        failed::Failed,
        session::{Db, Session, Tx},
        types::{At, millis},
    },
    query::{Cursor, Filter, Listed, Notification, Page, SCAN_BOUND},
};
use domain::{Status, TenantId, Timestamp};
use std::collections::{HashMap, HashSet};

/// How many candidates are looked at after the first step was not enough.
const STEP: usize = 1_000;

pub(super) async fn list(db: &Db, tenant: TenantId, filter: &Filter, page: &Page) -> Result<Listed, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let walk = Walk::new(db, &tx, tenant, filter);
    let limit = page.limit.max(1) as usize;
    let mut place = walk.start(page.after);
    let mut found: Vec<Cursor> = vec![];
    let mut seen = 0;
    // One more than asked for: only then is there a next page to offer.
    let mut step = limit + 1;
    let next = 'looking: loop {
        let wanted = step.min(SCAN_BOUND as usize - seen);
        if wanted == 0 {
            let more = walk.candidates(place, 1).await?;
            break (!more.is_empty()).then_some(place);
        }
        let candidates = walk.candidates(place, wanted).await?;
        let matching = walk.matching(&candidates).await?;
        for candidate in candidates.iter().filter(|c| matching.contains(&c.seq)) {
            if found.len() == limit {
                break 'looking found.last().copied();
            }
            found.push(*candidate);
        }
        match candidates.last() {
            Some(last) if candidates.len() == wanted => place = *last,
            _ => break None,
        }
        seen += candidates.len();
        step = STEP;
    };
    let rows = walk.load(&found).await?;
    Ok(Listed { rows, next })
}

/// Which index has the candidates.
enum By<'a> {
    /// What waits and what is parked: few beside the history, by number.
    Few {
        waiting: bool,
        parked: bool,
    },
    Entity {
        kind: &'a str,
        id: &'a str,
    },
    Execution(&'a str),
    Time,
}

struct Walk<'a> {
    db: &'a Db,
    tx: &'a Tx<'a>,
    tenant: TenantId,
    filter: &'a Filter,
    by: By<'a>,
    keyword: Option<String>,
}

impl<'a> Walk<'a> {
    fn new(db: &'a Db, tx: &'a Tx<'a>, tenant: TenantId, filter: &'a Filter) -> Self {
        Self {
            db,
            tx,
            tenant,
            filter,
            by: By::choose(filter),
            keyword: filter.keyword.as_ref().map(|word| word.to_lowercase()),
        }
    }

    /// Where to begin: before `to`, and after the last page.
    fn start(&self, after: Option<Cursor>) -> Cursor {
        let end = Cursor {
            at: Timestamp::from_millis(i64::MAX),
            seq: i64::MAX,
        };
        let before = match (&self.by, self.filter.to) {
            (By::Time, Some(at)) => Cursor { at, seq: i64::MIN },
            _ => end,
        };
        after.map_or(before, |cursor| match self.by {
            By::Time => before.min(cursor),
            By::Few { .. } | By::Entity { .. } | By::Execution(_) => cursor,
        })
    }

    /// The next ones after `place`, newest first.
    async fn candidates(&self, place: Cursor, wanted: usize) -> Result<Vec<Cursor>, Failed> {
        let (tenant, seq, wanted_rows) = (&self.tenant.0, &place.seq, &(wanted as i64));
        let numbered = |row: &tokio_postgres::Row| Cursor {
            at: Timestamp::EPOCH,
            seq: row.get(0),
        };
        match &self.by {
            By::Few { waiting, parked } => {
                let mut few = vec![];
                for (asked, statement) in [(waiting, sql::list_waiting), (parked, sql::list_parked)] {
                    if *asked {
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
            By::Entity { kind, id } => {
                let found = self
                    .tx
                    .rows(sql::list_by_entity, &[tenant, kind, id, seq, wanted_rows])
                    .await?;
                Ok(found.iter().map(numbered).collect())
            }
            By::Execution(execution) => {
                let found = self
                    .tx
                    .rows(sql::list_by_execution, &[tenant, execution, seq, wanted_rows])
                    .await?;
                Ok(found.iter().map(numbered).collect())
            }
            By::Time => {
                let from = At(self.filter.from.unwrap_or(Timestamp::from_millis(i64::MIN)));
                let found = self
                    .tx
                    .rows(
                        sql::list_by_time,
                        &[tenant, &from, &At(place.at), seq, wanted_rows],
                    )
                    .await?;
                let placed = |row: &tokio_postgres::Row| Cursor {
                    at: row.get::<_, At>(1).0,
                    seq: row.get(0),
                };
                Ok(found.iter().map(placed).collect())
            }
        }
    }

    async fn matching(&self, candidates: &[Cursor]) -> Result<HashSet<i64>, Failed> {
        let seqs: Vec<i64> = candidates.iter().map(|c| c.seq).collect();
        let f = self.filter;
        let statuses: Vec<&str> = f.status.iter().map(|s| s.as_str()).collect();
        let statuses = (!statuses.is_empty()).then_some(statuses);
        let found = self
            .tx
            .rows(
                sql::list_match,
                &[
                    &self.db.now(),
                    &self.tenant.0,
                    &seqs,
                    &statuses,
                    &f.channel.map(|c| c.as_str()),
                    &f.site,
                    &f.list,
                    &f.provider,
                    &f.from.map(At),
                    &f.to.map(At),
                    &f.stuck_after.map(millis),
                    &f.entity_type,
                    &f.entity_id,
                    &f.error_code,
                    &f.receipt,
                    &f.execution,
                    &f.ended_by.map(At),
                ],
            )
            .await?;
        let has_keyword = |subject: &str| {
            let word = self.keyword.as_deref();
            word.is_none_or(|word| subject.to_lowercase().contains(word))
        };
        let matching = found.iter().filter(|row| has_keyword(row.get("subject")));
        Ok(matching.map(|row| row.get("seq")).collect())
    }

    async fn load(&self, found: &[Cursor]) -> Result<Vec<Notification>, Failed> {
        let seqs: Vec<i64> = found.iter().map(|c| c.seq).collect();
        let mut by_seq = HashMap::new();
        for row in self.tx.rows(sql::list_row, &[&seqs]).await? {
            by_seq.insert(row.get::<_, i64>("seq"), notification::from_row(&row)?);
        }
        Ok(seqs.iter().filter_map(|seq| by_seq.remove(seq)).collect())
    }
}

impl<'a> By<'a> {
    fn choose(filter: &'a Filter) -> By<'a> {
        let asks = |status: Status| filter.status.contains(&status);
        let stuck = filter.stuck_after.is_some();
        let waiting = stuck || asks(Status::Pending) || asks(Status::Retrying);
        let parked = !stuck && asks(Status::Parked);
        let ended = !stuck && (asks(Status::Delivered) || asks(Status::Discarded));
        match (&filter.entity_type, &filter.entity_id) {
            _ if (waiting || parked) && !ended => By::Few { waiting, parked },
            (Some(kind), Some(id)) => By::Entity { kind, id },
            _ => match &filter.execution {
                Some(execution) => By::Execution(execution),
                None => By::Time,
            },
        }
    }
}
