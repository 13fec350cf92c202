//! Pages of notifications. [`ListIndex`] chooses the index to walk, [`Paging`] when a page ends; each candidate is
//! looked at once.

use super::{notification, sql};
use crate::{
    Result,
    list_index::{Keywords, ListIndex},
    paging::Paging,
    query::{COUNT_LIMIT, Counted, Cursor, Filter, Listed, Notification, Page, SCAN_BOUND},
    sqlite::rows::{self, all},
};
use domain::{TenantId, TextFilter, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, ToSql, params};

pub(super) fn list(
    conn: &Connection,
    tenant: TenantId,
    filter: &Filter,
    page: &Page,
    now: Timestamp,
) -> Result<Listed> {
    let mut paging = Paging::new(page);
    walk(conn, tenant, filter, page.after, now, &mut paging)?;
    let (seqs, next) = paging.finish();
    let rows = load(conn, &seqs)?;
    Ok(Listed { rows, next })
}

pub(super) fn count(conn: &Connection, tenant: TenantId, filter: &Filter, now: Timestamp) -> Result<Counted> {
    let index = ListIndex::serving(filter);
    let start = index.start(filter, None);
    let (limit, from) = (
        COUNT_LIMIT + 1,
        filter.from.map_or(i64::MIN, Timestamp::as_millis),
    );
    let count = |statement: &str, params: &[&dyn ToSql]| -> Result<Counted> {
        let mut count = conn.prepare_cached(statement)?;
        Ok(Counted::in_index(
            count.query_row(params, |row| rows::count(row, 0))?,
        ))
    };
    match index {
        ListIndex::Time if index.answers_alone(filter) => {
            let before = start.at.as_millis();
            count(
                sql::count_by_time,
                params![tenant.0, from, before, start.seq, limit],
            )
        }
        ListIndex::Entity { kind, id } if index.answers_alone(filter) => {
            count(sql::count_by_entity, params![tenant.0, kind, id, limit])
        }
        ListIndex::Execution(execution) if index.answers_alone(filter) => {
            count(sql::count_by_execution, params![tenant.0, execution, limit])
        }
        _ => {
            let mut paging = Paging::counting();
            walk(conn, tenant, filter, None, now, &mut paging)?;
            Ok(paging.count())
        }
    }
}

/// Looks at one candidate after the other, newest first, until the page is full.
fn walk(
    conn: &Connection,
    tenant: TenantId,
    filter: &Filter,
    after: Option<Cursor>,
    now: Timestamp,
    paging: &mut Paging<i64>,
) -> Result<()> {
    let stuck_before = filter.stuck_after.map(|after| (now - after).as_millis());
    let mut look = Look::new(conn, tenant, filter, stuck_before)?;
    let index = ListIndex::serving(filter);
    let start = index.start(filter, after);
    let (tenant, last, bound) = (tenant.0, start.seq, SCAN_BOUND + 1);
    match index {
        ListIndex::Unfinished { waiting, parked } => {
            let mut seqs = vec![];
            if waiting {
                seqs = numbers(conn, sql::list_waiting, params![tenant, last, bound])?;
            }
            if parked {
                seqs.extend(numbers(conn, sql::list_parked, params![tenant, last, bound])?);
            }
            seqs.sort_unstable_by_key(|seq| std::cmp::Reverse(*seq));
            look.at(numbered(seqs), paging)?;
        }
        ListIndex::Stuck(after) => {
            let before = (now - after).as_millis();
            let params = params![tenant, before, last, bound, SCAN_BOUND];
            look.at(numbered(numbers(conn, sql::list_stuck, params)?), paging)?;
        }
        ListIndex::Ids(ids) => {
            let (first, newest) = (ids.first.0, ids.last.0);
            let params = params![tenant, first.as_bytes(), newest.as_bytes(), last, bound];
            look.at(numbered(numbers(conn, sql::list_by_id, params)?), paging)?;
        }
        ListIndex::Entity { kind, id } => {
            let seqs = numbers(conn, sql::list_by_entity, params![tenant, kind, id, last, bound])?;
            look.at(numbered(seqs), paging)?;
        }
        ListIndex::Execution(execution) => {
            let seqs = numbers(
                conn,
                sql::list_by_execution,
                params![tenant, execution, last, bound],
            )?;
            look.at(numbered(seqs), paging)?;
        }
        ListIndex::Time => {
            let from = filter.from.map_or(i64::MIN, Timestamp::as_millis);
            let mut walk = conn.prepare_cached(sql::list_by_time)?;
            let params = params![tenant, from, start.at.as_millis(), last, bound];
            look.at(walk.query_map(params, placed)?, paging)?;
        }
    }
    Ok(())
}

fn numbers(conn: &Connection, statement: &str, params: impl Params) -> Result<Vec<i64>> {
    all(conn, statement, params, |row| Ok(row.get(0)?))
}

fn numbered(seqs: Vec<i64>) -> impl Iterator<Item = rusqlite::Result<Cursor>> {
    let place = |seq| Cursor {
        at: Timestamp::EPOCH,
        seq,
    };
    seqs.into_iter().map(move |seq| Ok(place(seq)))
}

fn placed(row: &Row<'_>) -> rusqlite::Result<Cursor> {
    Ok(Cursor {
        at: Timestamp::from_millis(row.get(1)?),
        seq: row.get(0)?,
    })
}

fn load(conn: &Connection, seqs: &[i64]) -> Result<Vec<Notification>> {
    let mut load = conn.prepare_cached(sql::list_row)?;
    let one = |seq: &i64| {
        let mut found = load.query([seq])?;
        let row = found
            .next()?
            .ok_or_else(|| crate::Error::corrupt("notifications", "a row vanished"))?;
        notification::from_row(row)
    };
    seqs.iter().map(one).collect()
}

/// Asks of one candidate after the other whether it passes the filter.
struct Look<'a> {
    statement: CachedStatement<'a>,
    tenant: TenantId,
    filter: &'a Filter,
    statuses: Option<String>,
    keywords: Keywords,
    stuck_before: Option<i64>,
}

impl<'a> Look<'a> {
    fn new(
        conn: &'a Connection,
        tenant: TenantId,
        filter: &'a Filter,
        stuck_before: Option<i64>,
    ) -> Result<Self> {
        let names: Vec<_> = filter.status.iter().map(|s| s.as_str()).collect();
        Ok(Self {
            statement: conn.prepare_cached(sql::list_match)?,
            tenant,
            filter,
            statuses: (!names.is_empty()).then(|| format!(",{},", names.join(","))),
            keywords: Keywords::of(filter),
            stuck_before,
        })
    }

    fn at(
        &mut self,
        candidates: impl Iterator<Item = rusqlite::Result<Cursor>>,
        paging: &mut Paging<i64>,
    ) -> Result<()> {
        for candidate in candidates {
            let candidate = candidate?;
            let row = self.matches(candidate.seq)?.then_some(candidate.seq);
            if paging.take(candidate, row) {
                break;
            }
        }
        Ok(())
    }

    fn matches(&mut self, seq: i64) -> Result<bool> {
        let f = self.filter;
        let channel = f.channel.map(|c| c.as_str());
        let words = self.keywords.any();
        let [from, to, ended_by] = [f.from, f.to, f.ended_by].map(|at| at.map(Timestamp::as_millis));
        let mut params: Vec<&dyn ToSql> = vec![
            &seq,
            &self.tenant.0,
            &self.statuses,
            &channel,
            &from,
            &to,
            &self.stuck_before,
            &ended_by,
            &words,
        ];
        params.extend(TextFilter::ALL.iter().map(|one| f.by.get(one) as &dyn ToSql));
        let keywords = &self.keywords;
        let found = self.statement.query_row(params.as_slice(), |row| {
            let text = |place: usize| row.get_ref(place).ok()?.as_str_or_null().ok()?;
            Ok(keywords.are_in([text(0), text(1), text(2), text(3), text(4)]))
        });
        Ok(found.optional()?.unwrap_or(false))
    }
}
