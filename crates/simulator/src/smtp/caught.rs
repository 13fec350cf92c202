//! What the server was given: the last mails in full, and counts of everything.

use bytes::Bytes;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::sync::watch;

/// One mail as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    pub sender: String,
    pub recipients: Vec<String>,
    /// Headers and body, dots unstuffed.
    pub data: Bytes,
    /// Without the angle brackets.
    pub message_id: Option<String>,
    /// The header `X-Waypost-Notification-Id`.
    pub notification_id: Option<String>,
    /// The connection it came in on; 1 for the first.
    pub connection: u64,
    pub over_tls: bool,
    pub authenticated_as: Option<String>,
    pub at: Instant,
}

impl Mail {
    /// The value of a header, unfolded; the name in any case.
    pub fn header(&self, name: &str) -> Option<String> {
        header(&self.data, name)
    }

    /// What identifies it: the notification id, or else the Message-ID.
    pub fn id(&self) -> Option<&str> {
        self.notification_id.as_deref().or(self.message_id.as_deref())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.data).into_owned()
    }
}

/// Totals since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub connections: u64,
    /// Connections open now.
    pub open: u64,
    pub mails: u64,
    /// Recipients over all mails.
    pub deliveries: u64,
    /// Deliveries of an id to a recipient that had it already.
    pub repeats: u64,
    /// Commands that came ahead of their turn although pipelining was not offered.
    pub unasked_pipelining: u64,
}

#[derive(Debug)]
pub(super) struct Caught {
    keep: usize,
    keep_ids: usize,
    held: Mutex<Held>,
    counts: watch::Sender<Counts>,
}

#[derive(Debug, Default)]
struct Held {
    mails: VecDeque<Mail>,
    by_id: HashMap<String, Vec<(String, u32)>>,
}

impl Caught {
    pub fn new(keep: usize, keep_ids: usize) -> Self {
        Self {
            keep,
            keep_ids,
            held: Mutex::default(),
            counts: watch::Sender::new(Counts::default()),
        }
    }

    /// Counts a connection and gives it its number.
    pub fn connected(&self) -> u64 {
        let mut number = 0;
        self.counts.send_modify(|c| {
            c.connections += 1;
            c.open += 1;
            number = c.connections;
        });
        number
    }

    pub fn disconnected(&self) {
        self.counts.send_modify(|c| c.open = c.open.saturating_sub(1));
    }

    pub fn pipelined_unasked(&self) {
        self.counts.send_modify(|c| c.unasked_pipelining += 1);
    }

    pub fn take(&self, mail: Mail) {
        let deliveries = mail.recipients.len() as u64;
        let repeats = {
            let mut held = self.held();
            let repeats = held.count(&mail, self.keep_ids);
            if self.keep > 0 {
                if held.mails.len() >= self.keep {
                    held.mails.pop_front();
                }
                held.mails.push_back(mail);
            }
            repeats
        };
        self.counts.send_modify(|c| {
            c.mails += 1;
            c.deliveries += deliveries;
            c.repeats += repeats;
        });
    }

    pub fn mails(&self) -> Vec<Mail> {
        self.held().mails.iter().cloned().collect()
    }

    pub fn counts(&self) -> Counts {
        *self.counts.borrow()
    }

    pub fn deliveries_of(&self, id: &str) -> Vec<(String, u32)> {
        self.held().by_id.get(id).cloned().unwrap_or_default()
    }

    pub async fn wait(&self, wanted: impl Fn(&Counts) -> bool) {
        // The sender lives in `self`, so the channel cannot close under us.
        let _ = self.counts.subscribe().wait_for(|counts| wanted(counts)).await;
    }

    pub fn forget(&self) {
        *self.held() = Held::default();
        self.counts.send_modify(|c| {
            *c = Counts {
                open: c.open,
                ..Counts::default()
            };
        });
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Counts the mail per id and recipient; returns how many had it already.
    fn count(&mut self, mail: &Mail, keep_ids: usize) -> u64 {
        let Some(id) = mail.id() else { return 0 };
        if !self.by_id.contains_key(id) {
            if self.by_id.len() >= keep_ids {
                return 0;
            }
            self.by_id.insert(id.to_owned(), vec![]);
        }
        let Some(seen) = self.by_id.get_mut(id) else {
            return 0;
        };
        let mut repeats = 0;
        for recipient in &mail.recipients {
            match seen.iter_mut().find(|(r, _)| r == recipient) {
                Some((_, n)) => {
                    *n += 1;
                    repeats += 1;
                }
                None => seen.push((recipient.clone(), 1)),
            }
        }
        repeats
    }
}

/// The value of a header in the head of a message, unfolded.
pub(super) fn header(data: &[u8], name: &str) -> Option<String> {
    let mut value: Option<Vec<u8>> = None;
    for line in data.split(|b| *b == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        let folded = line.first().is_some_and(|b| *b == b' ' || *b == b'\t');
        match &mut value {
            Some(value) if folded => value.extend_from_slice(line),
            Some(_) => break,
            None => {
                if !folded
                    && line.len() > name.len()
                    && line[name.len()] == b':'
                    && line[..name.len()].eq_ignore_ascii_case(name.as_bytes())
                {
                    value = Some(line[name.len() + 1..].to_vec());
                }
            }
        }
    }
    value.map(|v| String::from_utf8_lossy(&v).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(id: &str, recipients: &[&str]) -> Mail {
        Mail {
            sender: "a@example.com".into(),
            recipients: recipients.iter().map(|r| (*r).to_owned()).collect(),
            data: Bytes::new(),
            message_id: None,
            notification_id: Some(id.into()),
            connection: 1,
            over_tls: false,
            authenticated_as: None,
            at: Instant::now(),
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_counted_is_not() {
        let caught = Caught::new(2, 10);
        for _ in 0..3 {
            caught.take(mail("n1", &["x", "y"]));
        }
        assert_eq!(caught.mails().len(), 2);
        assert_eq!(caught.counts().mails, 3);
        assert_eq!(caught.counts().deliveries, 6);
        assert_eq!(caught.counts().repeats, 4);
        assert_eq!(caught.deliveries_of("n1"), [("x".into(), 3), ("y".into(), 3)]);
    }

    #[test]
    fn a_header_is_found_in_any_case_and_unfolded_and_never_in_the_body() {
        let data = b"Subject: one\r\n two\r\nMessage-ID: <m@x>\r\n\r\nX-Late: no\r\n";
        assert_eq!(header(data, "subject").as_deref(), Some("one two"));
        assert_eq!(header(data, "message-id").as_deref(), Some("<m@x>"));
        assert_eq!(header(data, "X-Late"), None);
    }
}
