//! Event sources: an outbox in the application's own database, so that its database and Waypost's need not be one.
//!
//! Leaves to others: when to look (`central::events`), making the outbox (`emit`, which has the statements).
//! Always true: a source is only marked, after its events are at central; no lease is written into it. A source that
//! cannot be reached is told from a row that cannot be read; a password is in neither.

mod postgres;
mod sql;
mod sqlite;
mod tenants;

pub use tenants::SourceTenants;

use crate::events::{NewEvent, sound_due};
use domain::{EventId, Timestamp};
use std::{collections::BTreeMap, fmt, time::Duration};

/// One source, connected when it is needed.
pub struct EventSource {
    name: String,
    tenants: SourceTenants,
    keep: Duration,
    lookups: BTreeMap<String, String>,
    has_outbox: bool,
    outbox: Engine,
    reads: Engine,
}

enum Engine {
    Postgres(postgres::Postgres),
    Sqlite(sqlite::Sqlite),
}

/// What a source is told by the configuration.
#[derive(Debug, Clone)]
pub struct SourceSettings {
    pub name: String,
    pub url: String,
    /// For lookups: a role that may only read. The same as `url` if left out.
    pub lookup_url: Option<String>,
    pub tenants: SourceTenants,
    /// Whether there are events in it. Not where an application in Waypost's own database emits into Waypost's own outbox, and
    /// is only asked for lookups.
    pub has_outbox: bool,
    /// How long what was taken stays in the source.
    pub keep: Duration,
    /// Queries by name; `:tenant` and `:entity` are bound.
    pub lookups: BTreeMap<String, String>,
}

/// What kept a source from answering.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Everybody's trouble, and nobody's fault.
    #[error("{0}")]
    Unreachable(String),
    /// The statement fails for this one.
    #[error("{0}")]
    Row(String),
}

/// An event as the source has it.
#[derive(Debug, Clone, PartialEq)]
struct SourceRow {
    seq: i64,
    id: String,
    tenant: Option<String>,
    topic: Option<String>,
    event_type: Option<String>,
    entity_type: Option<String>,
    entity_id: Option<String>,
    payload: Option<String>,
    schema_version: Option<i32>,
    correlation_id: Option<String>,
    due_at: Result<Option<i64>, SourceError>,
}

/// What an outbox answered.
struct Answer {
    rows: Vec<SourceRow>,
    more: bool,
    running: Vec<i64>,
    took: Duration,
}

/// A row of a source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mark {
    pub seq: i64,
    pub id: String,
}

/// An event that must not go out as far as it can be read: it might be too early, and cannot be taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    pub event: NewEvent,
    pub mark: Mark,
    pub why: SourceError,
}

/// What was found in a source: the events, and the last place that was looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pending {
    pub events: Vec<NewEvent>,
    /// What each of them is in the source, to be marked by.
    pub marks: Vec<Mark>,
    /// Those that cannot be read as what they mean.
    pub refused: Vec<Refused>,
    pub last: Option<i64>,
    /// There may be more: as many were found as were asked for, or they are long.
    pub more: bool,
    /// Transactions that were under way when it looked, whoever's: what they wrote is not among the events. None where commits
    /// come in the order of their numbers.
    pub running: Vec<i64>,
    /// How long the database worked on it; waiting for a connection is no part of it.
    pub took: Duration,
}

/// The longest a lookup may take.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest row that a lookup may find, in bytes of JSON.
const LONGEST_ROW: usize = 1 << 20;
impl fmt::Debug for EventSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventSource({})", self.name)
    }
}

impl EventSource {
    /// Says what is wrong with the settings; reaches nobody yet.
    pub fn new(settings: SourceSettings) -> Result<Self, String> {
        let outbox = Engine::new(&settings.url, false)?;
        let reads = Engine::new(settings.lookup_url.as_deref().unwrap_or(&settings.url), true)?;
        let mut lookups = BTreeMap::new();
        for (name, query) in settings.lookups {
            let query = query.trim().trim_end_matches(';').to_owned();
            let first = query.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
            if !matches!(first.as_str(), "select" | "with") {
                return Err(format!("lookup {name:?} must be a query that begins with select"));
            }
            lookups.insert(name, query);
        }
        Ok(Self {
            name: settings.name,
            tenants: settings.tenants,
            keep: settings.keep,
            lookups,
            has_outbox: settings.has_outbox,
            outbox,
            reads,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn has_outbox(&self) -> bool {
        self.has_outbox
    }

    /// Whether it is about this tenant, by its name.
    pub fn has_tenant(&self, tenant: &str) -> bool {
        match &self.tenants {
            SourceTenants::One(name) => name == tenant,
            SourceTenants::Map(map) => map.values().any(|name| name == tenant),
        }
    }

    /// So many lookups it answers beside each other. Whoever asks for more waits for our own connections and not for the source.
    pub fn lookups_at_once(&self) -> usize {
        match &self.reads {
            Engine::Postgres(_) => postgres::CONNECTIONS,
            Engine::Sqlite(_) => 1,
        }
    }

    /// The names of its lookups.
    pub fn lookups(&self) -> impl Iterator<Item = &str> {
        self.lookups.keys().map(String::as_str)
    }

    /// Makes the outbox in the application's database; harmless where it is there.
    pub async fn install(&self) -> Result<(), SourceError> {
        match &self.outbox {
            Engine::Postgres(db) => db.install().await,
            Engine::Sqlite(db) => db.install().await,
        }
    }

    /// What was not taken yet, oldest first. With `after` it begins behind that place: a hint, since what others commit
    /// late stands before it.
    pub async fn pending(&self, after: Option<i64>, limit: u32) -> Result<Pending, SourceError> {
        let Answer {
            rows,
            more,
            running,
            took,
        } = match &self.outbox {
            Engine::Postgres(db) => db.pending(after, limit).await?,
            Engine::Sqlite(db) => db.pending(after, limit).await?,
        };
        let mut pending = Pending {
            last: rows.last().map(|row| row.seq),
            more,
            running,
            took,
            ..Pending::default()
        };
        for row in rows {
            let mark = Mark {
                seq: row.seq,
                id: row.id.clone(),
            };
            let unreadable = row.due_at.as_ref().err().cloned();
            let event = self.event(row);
            match unreadable {
                Some(why) => pending.refused.push(Refused { event, mark, why }),
                None => {
                    pending.events.push(event);
                    pending.marks.push(mark);
                }
            }
        }
        Ok(pending)
    }

    /// Marks what is at central.
    pub async fn mark(&self, marks: &[Mark]) -> Result<(), SourceError> {
        match &self.outbox {
            Engine::Postgres(db) => db.mark(marks).await,
            Engine::Sqlite(db) => db.mark(marks).await,
        }
    }

    /// Deletes some of what was taken longer ago than it is kept. Answers with how many.
    pub async fn forget(&self, chunk: u32) -> Result<u64, SourceError> {
        match &self.outbox {
            Engine::Postgres(db) => db.forget(self.keep, chunk).await,
            Engine::Sqlite(db) => db.forget(self.keep, chunk).await,
        }
    }

    /// The one row of a lookup as a JSON object; none if there is none.
    pub async fn look_up(
        &self,
        name: &str,
        tenant: &str,
        entity: &str,
    ) -> Result<Option<String>, SourceError> {
        let Some(query) = self.lookups.get(name) else {
            return Err(SourceError::Row(format!("there is no lookup {name:?}")));
        };
        let tenant = self.tenants.back(tenant);
        let rows = match &self.reads {
            Engine::Postgres(db) => db.look_up(query, tenant, entity).await?,
            Engine::Sqlite(db) => db.look_up(query, tenant, entity).await?,
        };
        let mut rows = rows.into_iter();
        let why = match (rows.next(), rows.next()) {
            (None, _) => return Ok(None),
            (Some(Some(row)), None) => return Ok(Some(row)),
            (Some(None), None) => format!("lookup {name:?} found a row of more than {LONGEST_ROW} bytes"),
            (Some(_), Some(_)) => format!("lookup {name:?} found more than one row"),
        };
        Err(SourceError::Row(why))
    }

    /// A row as an event of central.
    fn event(&self, row: SourceRow) -> NewEvent {
        let sound = |text: Option<String>| text.map(|text| text.replace('\0', "\u{fffd}"));
        NewEvent {
            id: EventId::of_text(&self.name, &row.id),
            tenant: self.tenants.of(&self.name, sound(row.tenant).unwrap_or_default()),
            topic: sound(row.topic),
            event_type: sound(row.event_type).unwrap_or_default(),
            entity_type: sound(row.entity_type),
            entity_id: sound(row.entity_id).unwrap_or_default(),
            payload: sound(row.payload).unwrap_or_default(),
            schema_version: row.schema_version.unwrap_or(1),
            correlation_id: sound(row.correlation_id),
            due_at: row
                .due_at
                .ok()
                .flatten()
                .map(Timestamp::from_millis)
                .map(sound_due),
            source: self.name.clone(),
        }
    }
}

impl Engine {
    fn new(url: &str, read_only: bool) -> Result<Self, String> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            Ok(Self::Sqlite(sqlite::Sqlite::new(path, read_only)?))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Ok(Self::Postgres(postgres::Postgres::new(url, read_only)?))
        } else {
            Err("url takes postgres://… or sqlite://path".into())
        }
    }
}

/// A lookup with its names as numbers, and which value each of them is: 0 the tenant, 1 the entity. Casts (`::`) stay.
fn numbered(query: &str, number: impl Fn(usize) -> String) -> (String, Vec<usize>) {
    let (mut text, mut order): (String, Vec<usize>) = (String::new(), vec![]);
    let mut rest = query;
    while let Some(at) = rest.find(':') {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let name: String = from[1..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let meant = ["tenant", "entity"].iter().position(|known| *known == name);
        match meant {
            Some(meant) if !text.ends_with(':') => {
                let place = order.iter().position(|known| *known == meant).unwrap_or_else(|| {
                    order.push(meant);
                    order.len() - 1
                });
                text.push_str(&number(place + 1));
                rest = &from[1 + name.len()..];
            }
            _ => {
                text.push(':');
                rest = &from[1..];
            }
        }
    }
    text.push_str(rest);
    (text, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookups_names_become_numbers_and_casts_stay() {
        let query =
            "choose :entity::text as id, x::tenant where id = :entity and t = :tenant and at > '12:30'";
        let (text, order) = numbered(query, |n| format!("${n}"));
        let expected = "choose $1::text as id, x::tenant where id = $1 and t = $2 and at > '12:30'";
        assert_eq!((text.as_str(), order.as_slice()), (expected, &[1, 0][..]));
    }
}
