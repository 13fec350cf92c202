//! What people type to find a notification by its id: the whole of it, its beginning, or a Message-ID made of it.

use crate::NotificationId;
use uuid::Uuid;

/// The shortest beginning that is looked for.
const MIN_DIGITS: usize = 8;
const ALL_DIGITS: usize = 32;

/// The ids that begin in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRange {
    pub first: NotificationId,
    pub last: NotificationId,
}

impl IdRange {
    /// `0198f3c2`, `0198f3c2-6b1e-…`, or `<0198f3c2-…@example.com>`, whose id must be whole. None for anything else; what is
    /// found under it may still be a word of somebody's subject.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('<').trim_end_matches('>');
        let (digits, in_message_id) = match text.split_once('@') {
            Some((digits, _)) => (digits, true),
            None => (text, false),
        };
        let digits: String = digits
            .chars()
            .filter(|c| *c != '-')
            .take(ALL_DIGITS + 1)
            .collect();
        let enough = if in_message_id { ALL_DIGITS } else { MIN_DIGITS };
        let is_hex = digits.chars().all(|c| c.is_ascii_hexdigit());
        if !is_hex || digits.len() < enough || digits.len() > ALL_DIGITS {
            return None;
        }
        let filled = |with: &str| {
            let text = format!("{digits}{}", with.repeat(ALL_DIGITS - digits.len()));
            Uuid::try_parse(&text).ok().map(NotificationId)
        };
        Some(Self {
            first: filled("0")?,
            last: filled("f")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_whole_by_its_beginning_and_in_a_message_id() {
        let id = NotificationId::mint();
        let whole = IdRange { first: id, last: id };
        for text in [
            id.to_string(),
            id.to_string().to_uppercase(),
            id.0.simple().to_string(),
            format!(" <{id}@example.com> "),
            format!("{id}@example.com"),
        ] {
            assert_eq!(IdRange::of(&text), Some(whole), "{text}");
        }
        let begins = IdRange::of(&id.to_string()[..8]).unwrap();
        assert!(begins.first <= id && id <= begins.last && begins.first != begins.last);
    }

    #[test]
    fn other_words_are_no_ids() {
        for text in [
            "",
            "pump",
            "1234567",
            "0198f3c2 pump",
            "deadbeef@example.com",
            "0198f3c2-6b1e-7c40-9a55-3d1f0a9b8c7d0",
        ] {
            assert_eq!(IdRange::of(text), None, "{text}");
        }
    }
}
