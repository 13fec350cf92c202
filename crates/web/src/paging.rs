//! `limit`, `cursor` and `nextCursor`: the same on every list.

use crate::{dto::page::Paged, problem::Result, query::Params};
use domain::Timestamp;
use store::query::{Cursor, Page};

pub const DEFAULT_LIMIT: u32 = 100;
pub const LARGEST_LIMIT: u32 = 1000;

/// The page a request asks for, of something the store pages.
pub fn page(params: &mut Params) -> Page {
    let limit = limit(params).unwrap_or(DEFAULT_LIMIT);
    Page {
        limit,
        after: cursor(params),
    }
}

/// How many rows were asked for, if that was said.
pub fn limit(params: &mut Params) -> Option<u32> {
    let limit = params.parsed::<u32>("limit")?;
    if !(1..=LARGEST_LIMIT).contains(&limit) {
        params.problem("limit", format!("must be between 1 and {LARGEST_LIMIT}"));
    }
    Some(limit)
}

pub fn cursor(params: &mut Params) -> Option<Cursor> {
    let text = params.text("cursor")?;
    let parsed = parse_cursor(&text);
    if parsed.is_none() {
        params.problem("cursor", "is not one that this list gave out as nextCursor");
    }
    parsed
}

/// A place in the order, as text that means nothing to anybody else.
pub fn print_cursor(cursor: Cursor) -> String {
    format!("{:016x}{:016x}", cursor.at.as_millis(), cursor.seq)
}

fn parse_cursor(text: &str) -> Option<Cursor> {
    if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let half = |part: &str| u64::from_str_radix(part, 16).ok().map(u64::cast_signed);
    Some(Cursor {
        at: Timestamp::from_millis(half(&text[..16])?),
        seq: half(&text[16..])?,
    })
}

/// Pages something small that the store gives out whole, by a key that orders it.
pub fn page_whole<T, U>(
    mut all: Vec<T>,
    mut params: Params,
    key: impl Fn(&T) -> String,
    show: impl FnMut(T) -> U,
) -> Result<Paged<U>> {
    let limit = limit(&mut params).unwrap_or(DEFAULT_LIMIT) as usize;
    let after = params.text("cursor");
    params.finish()?;
    all.sort_by_cached_key(&key);
    if let Some(after) = after {
        all.retain(|item| key(item) > after);
    }
    let more = all.len() > limit;
    all.truncate(limit);
    let next_cursor = more.then(|| all.last().map(&key)).flatten();
    Ok(Paged {
        items: all.into_iter().map(show).collect(),
        next_cursor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_own_text() {
        for (at, seq) in [(0, 0), (1_767_225_600_123, 42), (-5, i64::MAX)] {
            let cursor = Cursor {
                at: Timestamp::from_millis(at),
                seq,
            };
            assert_eq!(parse_cursor(&print_cursor(cursor)), Some(cursor));
        }
        for bad in ["", "42", "x".repeat(32).as_str(), "é".repeat(16).as_str()] {
            assert_eq!(parse_cursor(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_small_list_is_paged_without_loss_or_repetition() {
        let all: Vec<String> = (0..250).map(|n| format!("{n:03}")).collect();
        let (mut seen, mut cursor) = (vec![], None::<String>);
        loop {
            let uri = match &cursor {
                Some(c) => format!("/?limit=100&cursor={c}"),
                None => "/?limit=100".into(),
            };
            let params = Params::for_test(&uri);
            let page = page_whole(all.clone(), params, Clone::clone, |s| s).unwrap();
            seen.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
    }
}
