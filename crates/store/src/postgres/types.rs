//! Values on their way into and out of PostgreSQL.
//!
//! Always true: a time that was written is read back exactly, because both sides keep whole milliseconds; one that PostgreSQL
//! has no room for is moved to the nearest that it has, and fails nothing.

use bytes::BytesMut;
use domain::Timestamp;
use std::{error::Error, time::Duration};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// A [`Timestamp`] as `timestamptz`.
#[derive(Debug, Clone, Copy)]
pub(super) struct At(pub Timestamp);

/// PostgreSQL counts microseconds from 2000-01-01.
const YEAR_2000: i64 = 946_684_800_000;
/// What `-infinity` is read as.
pub(super) const MINUS_INFINITY: Timestamp =
    Timestamp::from_millis(i64::MIN.div_euclid(1000).saturating_add(YEAR_2000));
/// The first and the last millisecond of a `timestamptz`: 4713 BC and the year 294276.
const FIRST_MICROS: i64 = -211_813_488_000_000_000;
const LAST_MICROS: i64 = 9_223_371_331_199_999_000;

impl ToSql for At {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let micros = self.0.as_millis().saturating_sub(YEAR_2000).saturating_mul(1000);
        // A moment beyond what there is room for is the last one there is room for: nobody waits that long.
        let micros = micros.clamp(FIRST_MICROS, LAST_MICROS);
        out.extend_from_slice(&micros.to_be_bytes());
        Ok(IsNull::No)
    }

    accepts!(TIMESTAMPTZ);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for At {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let micros = i64::from_be_bytes(raw.try_into()?);
        Ok(At(Timestamp::from_millis(
            micros.div_euclid(1000).saturating_add(YEAR_2000),
        )))
    }

    accepts!(TIMESTAMPTZ);
}

/// A duration as the `float8` that SQL multiplies with `interval '1 millisecond'`. Cut at a hundred years, so that
/// "for ever" stays a date that PostgreSQL can hold.
pub(super) fn millis(wait: Duration) -> f64 {
    const HUNDRED_YEARS: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    // Whole milliseconds below 2^53: exact.
    wait.min(HUNDRED_YEARS).as_millis() as f64
}

/// Counts come as `bigint` and are never negative.
pub(super) fn count(n: i64) -> u64 {
    n.max(0).unsigned_abs()
}

/// The same for the `integer` columns.
pub(super) fn small(n: i32) -> u32 {
    n.max(0).unsigned_abs()
}
