//! Rows as they are copied: the values one behind the other, as they go over the wire. Nothing is taken apart on the way from one
//! file to the other, because a standby is given every row that the active one writes.
//!
//! Always true: a [`Row`] can be read to its end; what came from outside is looked through once, in [`Row::read`].

use std::fmt;

/// A value as it stands in the file: text need not be text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

/// A value of a row, where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowValue<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

impl Value {
    /// About what it takes on the wire.
    pub fn weight(&self) -> usize {
        match self {
            Self::Null => 2,
            Self::Integer(_) | Self::Real(_) => 10,
            Self::Text(bytes) | Self::Blob(bytes) => bytes.len() + 4,
        }
    }

    pub fn borrowed(&self) -> RowValue<'_> {
        match self {
            Self::Null => RowValue::Null,
            Self::Integer(n) => RowValue::Integer(*n),
            Self::Real(n) => RowValue::Real(*n),
            Self::Text(text) => RowValue::Text(text),
            Self::Blob(bytes) => RowValue::Blob(bytes),
        }
    }
}

impl From<RowValue<'_>> for Value {
    fn from(value: RowValue<'_>) -> Self {
        match value {
            RowValue::Null => Self::Null,
            RowValue::Integer(n) => Self::Integer(n),
            RowValue::Real(n) => Self::Real(n),
            RowValue::Text(text) => Self::Text(text.to_vec()),
            RowValue::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

/// A row, its columns in the order of the table. Each value is a letter for its kind and, but for null, what follows from that: eight bytes of a
/// number, or four that say how long it is and so many bytes. All numbers begin with their lowest byte.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Row(Vec<u8>);

const NULL: u8 = b'n';
const INTEGER: u8 = b'i';
const REAL: u8 = b'r';
const TEXT: u8 = b't';
const BLOB: u8 = b'b';

/// What is no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a row of {bytes} bytes cannot be read behind byte {at}")]
pub struct NotARow {
    bytes: usize,
    at: usize,
}

impl Row {
    /// Room for about so many bytes.
    pub fn with_room(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// As it came from another machine.
    pub fn read(bytes: Vec<u8>) -> Result<Self, NotARow> {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let not_a_row = NotARow {
                bytes: bytes.len(),
                at: bytes.len() - rest.len(),
            };
            (_, rest) = first_of(rest).ok_or(not_a_row)?;
        }
        Ok(Self(bytes))
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// What it takes on the wire.
    pub fn weight(&self) -> usize {
        self.0.len()
    }

    pub fn push(&mut self, value: RowValue<'_>) {
        match value {
            RowValue::Null => self.0.push(NULL),
            RowValue::Integer(n) => self.number(INTEGER, n.to_le_bytes()),
            RowValue::Real(n) => self.number(REAL, n.to_le_bytes()),
            RowValue::Text(text) => self.bytes(TEXT, text),
            RowValue::Blob(bytes) => self.bytes(BLOB, bytes),
        }
    }

    fn number(&mut self, kind: u8, bytes: [u8; 8]) {
        self.0.push(kind);
        self.0.extend_from_slice(&bytes);
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        // SQLite keeps no value of more than 2³¹ bytes.
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.0.push(kind);
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(&bytes[..length as usize]);
    }

    pub fn values(&self) -> Values<'_> {
        Values(&self.0)
    }

    pub fn get(&self, place: usize) -> Option<RowValue<'_>> {
        self.values().nth(place)
    }

    pub fn first(&self) -> Option<RowValue<'_>> {
        self.get(0)
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.values().count()
    }
}

impl<'a> FromIterator<RowValue<'a>> for Row {
    fn from_iter<I: IntoIterator<Item = RowValue<'a>>>(values: I) -> Self {
        let mut row = Self::default();
        values.into_iter().for_each(|value| row.push(value));
        row
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values()).finish()
    }
}

/// The values of a row, one after the other.
#[derive(Debug, Clone)]
pub struct Values<'a>(&'a [u8]);

impl<'a> Iterator for Values<'a> {
    type Item = RowValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (value, rest) = first_of(self.0)?;
        self.0 = rest;
        Some(value)
    }
}

/// The first value, and what is behind it.
fn first_of(bytes: &[u8]) -> Option<(RowValue<'_>, &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    match *kind {
        NULL => Some((RowValue::Null, rest)),
        INTEGER => {
            let (number, rest) = rest.split_first_chunk()?;
            Some((RowValue::Integer(i64::from_le_bytes(*number)), rest))
        }
        REAL => {
            let (number, rest) = rest.split_first_chunk()?;
            Some((RowValue::Real(f64::from_le_bytes(*number)), rest))
        }
        kind @ (TEXT | BLOB) => {
            let (length, rest) = rest.split_first_chunk()?;
            let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            let value = match kind {
                TEXT => RowValue::Text(bytes),
                _ => RowValue::Blob(bytes),
            };
            Some((value, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "row_tests.rs"]
mod tests;
