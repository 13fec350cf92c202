//! What the database made of a part of a batch, and what each item is told about it.

use super::ingest_columns::Item;
use crate::{
    Result,
    outbox::Ingested,
    postgres::{failed::Failed, rows, types::At},
};
use domain::{NotificationId, Status, Timestamp};
use std::{collections::HashMap, time::Duration};
use tokio_postgres::Row;
use uuid::Uuid;

/// What the database made of a part.
#[derive(Default)]
pub(in crate::postgres) struct Found {
    pub accepted: HashMap<(i32, Uuid), i64>,
    /// By the row that replaced them.
    replaced: HashMap<(i32, Uuid), Vec<NotificationId>>,
    known: HashMap<(i32, Uuid), Known>,
    /// Set after a lost answer: what is there already with the same content and is younger than this is ours.
    pub ours_since: Option<Duration>,
}

struct Known {
    content_hash: Option<i64>,
    created_at: Option<Timestamp>,
    now: Timestamp,
    status: Option<Status>,
}

impl Found {
    pub fn accept(&mut self, rows: &[Row]) {
        self.accepted = rows
            .iter()
            .map(|row| ((row.get(0), row.get(1)), row.get(2)))
            .collect();
    }

    pub fn replace(&mut self, rows: &[Row]) {
        for row in rows {
            let replaced = self.replaced.entry((row.get(0), row.get(1))).or_default();
            replaced.push(NotificationId(row.get(2)));
        }
    }

    pub fn know(&mut self, rows: &[Row]) -> Result<(), Failed> {
        for row in rows {
            let known = Known {
                content_hash: row.get(2),
                created_at: row.get::<_, Option<At>>(3).map(|at| at.0),
                now: row.get::<_, At>(4).0,
                status: rows::status(row.get(5))?,
            };
            self.known.insert((row.get(0), row.get(1)), known);
        }
        Ok(())
    }

    /// For each supersede key the newest accepted row; it replaces the others, also those that came with it.
    pub fn newest_per_key<'a>(&self, replacing: &[&'a Item]) -> HashMap<(i32, &'a str), (i64, Uuid)> {
        let mut newest = HashMap::new();
        for item in replacing {
            let key @ (tenant, id) = item.key();
            if let Some(seq) = self.accepted.get(&key) {
                let slot = newest.entry((tenant, item.supersede_key())).or_insert((*seq, id));
                *slot = (*slot).max((*seq, id));
            }
        }
        newest
    }

    pub fn answer(&self, item: &Item) -> Ingested {
        let key = item.key();
        if self.accepted.contains_key(&key) {
            return match self.replaced.get(&key) {
                Some(replaced) => Ingested::Replaced(replaced.clone()),
                None => Ingested::Accepted,
            };
        }
        let Some(known) = self.known.get(&key) else {
            return Ingested::Duplicate {
                same_content: true,
                status: None,
            };
        };
        // An id that was purged has no content left to compare with.
        let same_content = known.content_hash.is_none_or(|hash| hash == item.content_hash);
        let ours = self
            .ours_since
            .zip(known.created_at)
            .is_some_and(|(age, created)| same_content && created >= known.now - age);
        if ours {
            return Ingested::Accepted;
        }
        Ingested::Duplicate {
            same_content,
            status: known.status,
        }
    }
}
