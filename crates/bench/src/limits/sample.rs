//! What is enqueued: about 300 bytes of JSON under a key that is unique and in no order.

use std::hash::{BuildHasher, RandomState};

/// One run's messages by number. Keys of two runs never meet.
#[derive(Debug, Clone, Default)]
pub struct Sample(RandomState);

impl Sample {
    pub fn new() -> Self {
        Self::default()
    }

    /// In random order, as keys that callers make up are: neighbours in time are strangers in the index.
    pub fn key(&self, n: u64) -> String {
        format!("{:016x}-{n:016x}", self.0.hash_one(n))
    }

    /// The text of a message; with its subject and address about 300 bytes.
    pub fn body(n: u64) -> String {
        let mut body = format!("Order {n} has been confirmed and leaves the warehouse tonight. ");
        let filler = "Please keep this message for your records. ";
        while body.len() < 230 {
            body.push_str(filler);
        }
        body.truncate(230);
        body
    }

    /// The whole message as one text, for tables that have no columns for its parts.
    pub fn payload(n: u64) -> String {
        let body = Self::body(n);
        format!(r#"{{"to":"user{n}@example.org","subject":"Order confirmation","body":"{body}"}}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_about_three_hundred_bytes_and_keys_never_meet() {
        assert!((280..=330).contains(&Sample::payload(7).len()));
        let (one, other) = (Sample::new(), Sample::new());
        assert_ne!(one.key(1), one.key(2));
        assert_ne!(one.key(1), other.key(1));
    }
}
