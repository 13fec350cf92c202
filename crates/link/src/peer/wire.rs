//! Between the generated wire types and the plain ones. Out of the wire may fail, in words; what a machine says about
//! itself has a size.

use super::{About, TakenIn};
use domain::{
    pair::{Changes, Copied, Epoch, HIGHEST_COUNTER, History, Node, Relief, Role, Row, Table, Value},
    submission::limit,
};
use uuid::Uuid;

/// Generated from `proto/peer/v1/peer.proto`; `cargo run -p wiregen` writes it anew.
#[allow(
    clippy::all,
    clippy::unwrap_used,
    missing_debug_implementations,
    rust_2018_idioms,
    unused_qualifications
)]
pub mod v1 {
    include!("../wire/waypost.peer.v1.rs");
}

/// Turns of a history that are read.
const MOST_EPOCHS: usize = 1_000;
/// Systems and connections that are compared.
const MOST_TARGETS: usize = 1_000;
const DIGEST_BYTES: usize = 64;

type Garbled = String;

fn uuid(bytes: &[u8]) -> Result<Uuid, Garbled> {
    Uuid::from_slice(bytes).map_err(|_| format!("an id has 16 bytes, not {}", bytes.len()))
}

fn table(number: u32) -> Result<Table, Garbled> {
    Table::of_number(number.into()).ok_or_else(|| format!("table {number} is not known here"))
}

impl From<Node> for v1::Node {
    fn from(node: Node) -> Self {
        let epoch = |epoch: &Epoch| v1::Epoch {
            counter: epoch.counter,
            id: epoch.id.as_bytes().to_vec(),
            first: epoch.first,
            first_message: epoch.first_message,
        };
        let bytes = |id: Uuid| id.as_bytes().to_vec();
        Self {
            id: node.id.as_bytes().to_vec(),
            active: node.role == Role::Active,
            history: node.history.epochs().iter().map(epoch).collect(),
            position: node.position,
            floor: node.floor,
            stale: node.stale,
            joined: node.joined.map(bytes),
            vouches: node.vouches.map(bytes),
        }
    }
}

impl TryFrom<v1::Node> for Node {
    type Error = Garbled;

    fn try_from(node: v1::Node) -> Result<Self, Garbled> {
        let epoch = |epoch: v1::Epoch| {
            if epoch.counter > HIGHEST_COUNTER {
                return Err(format!("there is no turn {}", epoch.counter));
            }
            Ok(Epoch {
                counter: epoch.counter,
                id: uuid(&epoch.id)?,
                first: epoch.first,
                first_message: epoch.first_message,
            })
        };
        if node.history.len() > MOST_EPOCHS {
            return Err(format!("a history of {} turns", node.history.len()));
        }
        let epochs = node
            .history
            .into_iter()
            .map(epoch)
            .collect::<Result<_, Garbled>>()?;
        Ok(Self {
            id: uuid(&node.id)?,
            role: match node.active {
                true => Role::Active,
                false => Role::Standby,
            },
            history: History::of(epochs),
            position: node.position,
            floor: node.floor,
            stale: node.stale,
            joined: node.joined.as_deref().map(uuid).transpose()?,
            vouches: node.vouches.as_deref().map(uuid).transpose()?,
        })
    }
}

impl From<About> for v1::About {
    fn from(about: About) -> Self {
        let target = |(name, digest)| v1::Target { name, digest };
        Self {
            name: about.name,
            version: about.version,
            schema: about.schema,
            targets: about.targets.into_iter().map(target).collect(),
        }
    }
}

impl From<v1::About> for About {
    fn from(about: v1::About) -> Self {
        let short = |text: String| text.chars().take(limit::NAME).collect();
        let mut targets = about.targets;
        targets.truncate(MOST_TARGETS);
        Self {
            name: short(about.name),
            version: short(about.version),
            schema: about.schema,
            targets: targets
                .into_iter()
                .map(|mut target| {
                    target.digest.truncate(DIGEST_BYTES);
                    (short(target.name), target.digest)
                })
                .collect(),
        }
    }
}

impl From<Value> for v1::Value {
    fn from(value: Value) -> Self {
        use v1::value::Is;
        let is = match value {
            Value::Null => None,
            Value::Integer(n) => Some(Is::Integer(n)),
            Value::Real(n) => Some(Is::Real(n)),
            Value::Text(text) => Some(Is::Text(text)),
            Value::Blob(bytes) => Some(Is::Blob(bytes)),
        };
        Self { is }
    }
}

impl From<v1::Value> for Value {
    fn from(value: v1::Value) -> Self {
        use v1::value::Is;
        match value.is {
            None => Self::Null,
            Some(Is::Integer(n)) => Self::Integer(n),
            Some(Is::Real(n)) => Self::Real(n),
            Some(Is::Text(text)) => Self::Text(text),
            Some(Is::Blob(bytes)) => Self::Blob(bytes),
        }
    }
}

pub(super) fn row_out(table: Table, row: Row) -> v1::Row {
    v1::Row {
        table: table.number(),
        values: row.into_bytes(),
    }
}

pub(super) fn row_in(row: v1::Row) -> Result<Row, Garbled> {
    Row::read(row.values).map_err(|e| e.to_string())
}

pub(super) fn rows_in(rows: Vec<v1::Row>) -> Result<Vec<Row>, Garbled> {
    rows.into_iter().map(row_in).collect()
}

/// None: the log does not go back so far.
pub(super) fn changes_out(changes: Option<Changes>) -> v1::Changes {
    let Some(changes) = changes else {
        return v1::Changes {
            not_in_log: true,
            ..v1::Changes::default()
        };
    };
    let gone = |(table, key): (Table, Value)| v1::Gone {
        table: table.number(),
        key: Some(key.into()),
    };
    let sequence = |(table, last): (Table, i64)| v1::Sequence {
        table: table.number(),
        last,
    };
    v1::Changes {
        not_in_log: false,
        from: changes.from,
        to: changes.to,
        head: changes.head,
        gone: changes.gone.into_iter().map(gone).collect(),
        rows: changes.rows.into_iter().map(|(t, row)| row_out(t, row)).collect(),
        sequences: changes.sequences.into_iter().map(sequence).collect(),
        turn: changes.turn.map(|(counter, id)| v1::TurnRank {
            counter,
            id: id.as_bytes().to_vec(),
        }),
    }
}

pub(super) fn changes_in(changes: v1::Changes) -> Result<Option<Changes>, Garbled> {
    if changes.not_in_log {
        return Ok(None);
    }
    let gone = |gone: v1::Gone| Ok((table(gone.table)?, gone.key.unwrap_or_default().into()));
    let row = |row: v1::Row| Ok((table(row.table)?, row_in(row)?));
    let sequence = |of: v1::Sequence| Ok((table(of.table)?, of.last));
    let turn = |turn: v1::TurnRank| Ok::<_, Garbled>((turn.counter, uuid(&turn.id)?));
    Ok(Some(Changes {
        from: changes.from,
        to: changes.to,
        head: changes.head,
        gone: changes
            .gone
            .into_iter()
            .map(gone)
            .collect::<Result<_, Garbled>>()?,
        rows: changes
            .rows
            .into_iter()
            .map(row)
            .collect::<Result<_, Garbled>>()?,
        sequences: changes
            .sequences
            .into_iter()
            .map(sequence)
            .collect::<Result<_, Garbled>>()?,
        turn: changes.turn.map(turn).transpose()?,
    }))
}

pub(super) fn copied_out(of: Table, copied: Copied) -> v1::Copied {
    v1::Copied {
        rows: copied.rows.into_iter().map(|row| row_out(of, row)).collect(),
        next: copied.next.map(Into::into),
    }
}

pub(super) fn copied_in(copied: v1::Copied) -> Result<Copied, Garbled> {
    Ok(Copied {
        rows: rows_in(copied.rows)?,
        next: copied.next.map(Into::into),
    })
}

pub(super) fn relief_out(why: Option<Relief>) -> v1::take_over_asked::Why {
    use v1::take_over_asked::Why;
    match why {
        None => Why::Person,
        Some(Relief::NoRoom) => Why::NoRoom,
        Some(Relief::NoCentral) => Why::NoCentral,
    }
}

pub(super) fn relief_in(why: v1::take_over_asked::Why) -> Option<Relief> {
    use v1::take_over_asked::Why;
    match why {
        Why::Person => None,
        Why::NoRoom => Some(Relief::NoRoom),
        Why::NoCentral => Some(Relief::NoCentral),
    }
}

pub(super) fn table_in(number: u32) -> Result<Table, Garbled> {
    table(number)
}

impl From<TakenIn> for v1::TakenIn {
    fn from(taken: TakenIn) -> Self {
        Self {
            taken: taken.taken,
            known: taken.known,
            unreadable: taken.unreadable,
        }
    }
}

impl From<v1::TakenIn> for TakenIn {
    fn from(taken: v1::TakenIn) -> Self {
        Self {
            taken: taken.taken,
            known: taken.known,
            unreadable: taken.unreadable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_cannot_be_read_is_refused_wherever_rows_come_in() {
        let row = || v1::Row {
            table: Table::Messages.number(),
            values: vec![b'?'],
        };
        let changes = v1::Changes {
            rows: vec![row()],
            ..v1::Changes::default()
        };
        let copied = v1::Copied {
            rows: vec![row()],
            next: None,
        };
        let refused = [
            changes_in(changes).unwrap_err(),
            copied_in(copied).unwrap_err(),
            rows_in(vec![row()]).unwrap_err(),
        ];
        assert!(
            refused.iter().all(|why| why.contains("behind byte 0")),
            "{refused:?}"
        );
    }
}
