//! Pages of notifications. A filter chooses the index to walk; each candidate is looked at once, newest first, and
//! no page looks at more than [`SCAN_BOUND`].
//!
//! Always true: the candidates of a filter come in one total order, so pages have neither gaps nor repeats.

use super::{notification, sql};
use crate::{
    Result,
    query::{Cursor, Filter, Listed, Notification, Page, SCAN_BOUND},
    sqlite::rows::all,
};
use domain::{Status, TenantId, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

pub(super) fn list(
    conn: &Connection,
    tenant: TenantId,
    filter: &Filter,
    page: &Page,
    now: Timestamp,
) -> Result<Listed> {
    let stuck_before = filter.stuck_after.map(|after| (now - after).as_millis());
    let mut scan = Scan::new(conn, tenant, filter, stuck_before)?;
    let last = page.after.map_or(i64::MAX, |cursor| cursor.seq);
    let numbered = |seqs: Vec<i64>| seqs.into_iter().map(|seq| Ok(place(Timestamp::EPOCH, seq)));
    if let Some(seqs) = few(conn, tenant, filter, stuck_before, last)? {
        return scan.page(numbered(seqs), page.limit);
    }
    if let (Some(kind), Some(id)) = (&filter.entity_type, &filter.entity_id) {
        let params = params![tenant.0, kind, id, last, SCAN_BOUND + 1];
        let seqs = all(conn, sql::list_by_entity, params, |row| Ok(row.get(0)?))?;
        return scan.page(numbered(seqs), page.limit);
    }
    if let Some(execution) = &filter.execution {
        let params = params![tenant.0, execution, last, SCAN_BOUND + 1];
        let seqs = all(conn, sql::list_by_execution, params, |row| Ok(row.get(0)?))?;
        return scan.page(numbered(seqs), page.limit);
    }
    let (at, seq) = newest(filter.to, page.after);
    let from = filter.from.map_or(i64::MIN, Timestamp::as_millis);
    let mut walk = conn.prepare_cached(sql::list_by_time)?;
    let candidates = walk.query_map(params![tenant.0, from, at, seq, SCAN_BOUND + 1], |row| {
        Ok(place(Timestamp::from_millis(row.get(1)?), row.get(0)?))
    })?;
    scan.page(candidates, page.limit)
}

fn place(at: Timestamp, seq: i64) -> Cursor {
    Cursor { at, seq }
}

/// Where to begin: before `to`, and after the last page.
fn newest(to: Option<Timestamp>, after: Option<Cursor>) -> (i64, i64) {
    let before = to.map_or((i64::MAX, i64::MAX), |to| (to.as_millis(), i64::MIN));
    after.map_or(before, |cursor| before.min((cursor.at.as_millis(), cursor.seq)))
}

/// The candidates where the filter asks only for what waits or is parked: few beside the history, and by number.
fn few(
    conn: &Connection,
    tenant: TenantId,
    filter: &Filter,
    stuck_before: Option<i64>,
    last: i64,
) -> Result<Option<Vec<i64>>> {
    let asks = |status: Status| filter.status.contains(&status);
    let only_ended = asks(Status::Delivered) || asks(Status::Discarded);
    let waiting = stuck_before.is_some() || asks(Status::Pending) || asks(Status::Retrying);
    let parked = stuck_before.is_none() && asks(Status::Parked);
    if !(waiting || parked) || (only_ended && stuck_before.is_none()) {
        return Ok(None);
    }
    let seq = |row: &rusqlite::Row<'_>| Ok(row.get::<_, i64>(0)?);
    let mut seqs = vec![];
    if waiting {
        let params = params![tenant.0, stuck_before.unwrap_or(i64::MAX), last, SCAN_BOUND + 1];
        seqs = all(conn, sql::list_waiting, params, seq)?;
        if seqs.len() > SCAN_BOUND as usize {
            seqs = all(conn, sql::list_backlog, params![last, SCAN_BOUND + 1], seq)?;
        }
    }
    if parked {
        seqs.extend(all(
            conn,
            sql::list_parked,
            params![tenant.0, last, SCAN_BOUND + 1],
            seq,
        )?);
    }
    seqs.sort_unstable_by_key(|seq| std::cmp::Reverse(*seq));
    Ok(Some(seqs))
}

/// One walk over candidates.
struct Scan<'a> {
    look: CachedStatement<'a>,
    load: CachedStatement<'a>,
    tenant: TenantId,
    filter: &'a Filter,
    statuses: Option<String>,
    keyword: Option<String>,
    stuck_before: Option<i64>,
}

impl<'a> Scan<'a> {
    fn new(
        conn: &'a Connection,
        tenant: TenantId,
        filter: &'a Filter,
        stuck_before: Option<i64>,
    ) -> Result<Self> {
        let names: Vec<_> = filter.status.iter().map(|s| s.as_str()).collect();
        Ok(Self {
            look: conn.prepare_cached(sql::list_match)?,
            load: conn.prepare_cached(sql::list_row)?,
            tenant,
            filter,
            statuses: (!names.is_empty()).then(|| format!(",{},", names.join(","))),
            keyword: filter.keyword.as_ref().map(|word| word.to_lowercase()),
            stuck_before,
        })
    }

    /// Looks for one row more than asked for: only then is there a next page to offer.
    fn page(
        &mut self,
        candidates: impl Iterator<Item = rusqlite::Result<Cursor>>,
        limit: u32,
    ) -> Result<Listed> {
        let limit = limit.max(1) as usize;
        let mut listed = Listed::default();
        let mut last_row = None;
        let mut last_seen = None;
        for (seen, candidate) in candidates.enumerate() {
            if seen == SCAN_BOUND as usize {
                listed.next = last_seen;
                return Ok(listed);
            }
            let candidate = candidate?;
            last_seen = Some(candidate);
            if !self.matches(candidate.seq)? {
                continue;
            }
            if listed.rows.len() == limit {
                listed.next = last_row;
                return Ok(listed);
            }
            listed.rows.push(self.load(candidate.seq)?);
            last_row = Some(candidate);
        }
        Ok(listed)
    }

    fn matches(&mut self, seq: i64) -> Result<bool> {
        let f = self.filter;
        let subject: Option<String> = self
            .look
            .query_row(
                params![
                    seq,
                    self.tenant.0,
                    self.statuses,
                    f.channel.map(|c| c.as_str()),
                    f.site,
                    f.list,
                    f.provider,
                    f.from.map(Timestamp::as_millis),
                    f.to.map(Timestamp::as_millis),
                    self.stuck_before,
                    f.entity_type,
                    f.entity_id,
                    f.error_code,
                    f.receipt,
                    f.execution,
                    f.ended_by.map(Timestamp::as_millis),
                ],
                |row| row.get("subject"),
            )
            .optional()?;
        Ok(subject.is_some_and(|subject| {
            let word = self.keyword.as_deref();
            word.is_none_or(|word| subject.to_lowercase().contains(word))
        }))
    }

    fn load(&mut self, seq: i64) -> Result<Notification> {
        let mut found = self.load.query([seq])?;
        let row = found
            .next()?
            .ok_or_else(|| crate::Error::corrupt("notifications", "a row vanished"))?;
        notification::from_row(row)
    }
}
