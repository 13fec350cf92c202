//! What was captured: the last messages of each provider in full, and how many there were.
//!
//! Always true: what is kept has a bound in messages for each provider and in bytes for all of them together; whoever
//! keeps the most gives way first, so that one busy provider does not push out what another was given.

use crate::{adapter::Message, kind::Owner};
use domain::lock::lock;
use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};
use tokio::sync::watch;

/// The most messages kept for one provider.
const KEPT_MESSAGES: usize = 1_000;
/// The most bytes of content kept for all providers together.
const KEPT_BYTES: usize = 16 << 20;

/// A handle on what capture providers were given. Clones share it.
#[derive(Clone)]
pub struct Captured(Arc<Inner>);

/// One message that was captured.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// Goes up with every message, over all providers.
    pub number: u64,
    pub message: Message,
}

struct Inner {
    messages: usize,
    bytes: usize,
    kept: Mutex<Kept>,
    total: watch::Sender<u64>,
}

#[derive(Default)]
struct Kept {
    bytes: usize,
    by_owner: HashMap<Option<Owner>, Ring>,
}

/// What is kept for one provider, oldest first.
#[derive(Default)]
struct Ring {
    bytes: usize,
    captures: VecDeque<Capture>,
}

impl Captured {
    /// Keeps the last `messages` of each provider; the count goes on beyond that.
    pub fn keeping(messages: usize) -> Self {
        Self::bounded(messages, KEPT_BYTES)
    }

    fn bounded(messages: usize, bytes: usize) -> Self {
        Self(Arc::new(Inner {
            messages,
            bytes,
            kept: Mutex::default(),
            total: watch::Sender::new(0),
        }))
    }

    pub(super) fn keep(&self, owner: Option<&Owner>, message: &Message) {
        if self.0.messages > 0 {
            let mut kept = self.lock();
            // Counted under the lock, so that numbers are in the order in which messages are kept.
            let number = *self.0.total.borrow();
            let capture = Capture {
                number,
                message: message.clone(),
            };
            kept.add(owner, capture, self.0.messages);
            while kept.bytes > self.0.bytes && kept.drop_from_the_largest() {}
            self.0.total.send_modify(|n| *n += 1);
        } else {
            self.0.total.send_modify(|n| *n += 1);
        }
    }

    /// What is kept for one provider, oldest first.
    pub fn of(&self, owner: &Owner) -> Vec<Capture> {
        let kept = self.lock();
        let ring = kept.by_owner.get(&Some(owner.clone()));
        ring.map(|ring| ring.captures.iter().cloned().collect())
            .unwrap_or_default()
    }

    /// The messages kept for all providers, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        let mut all: Vec<Capture> = {
            let kept = self.lock();
            let rings = kept.by_owner.values();
            rings.flat_map(|ring| ring.captures.iter().cloned()).collect()
        };
        all.sort_unstable_by_key(|capture| capture.number);
        all.into_iter().map(|capture| capture.message).collect()
    }

    /// How many messages there were in all.
    pub fn total(&self) -> u64 {
        *self.0.total.borrow()
    }

    /// Waits until there were this many messages in all.
    pub async fn wait_for(&self, total: u64) {
        // The sender lives in `self`, so the channel cannot close under us.
        let _ = self.0.total.subscribe().wait_for(|n| *n >= total).await;
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        lock(&self.0.kept)
    }
}

impl Kept {
    fn add(&mut self, owner: Option<&Owner>, capture: Capture, most: usize) {
        let weight = weight(&capture.message);
        let ring = self.by_owner.entry(owner.cloned()).or_default();
        let dropped = match ring.captures.len() >= most {
            true => ring.drop_oldest(),
            false => 0,
        };
        ring.captures.push_back(capture);
        ring.bytes += weight;
        self.bytes = self.bytes + weight - dropped;
    }

    /// Answers whether there was anything to drop.
    fn drop_from_the_largest(&mut self) -> bool {
        let largest = self.by_owner.iter_mut().max_by_key(|(_, ring)| ring.bytes);
        let Some((owner, ring)) = largest else {
            return false;
        };
        self.bytes -= ring.drop_oldest();
        if ring.captures.is_empty() {
            let owner = owner.clone();
            self.by_owner.remove(&owner);
        }
        true
    }
}

impl Ring {
    /// Answers with the bytes that are free now.
    fn drop_oldest(&mut self) -> usize {
        let freed = self.captures.pop_front().map_or(0, |c| weight(&c.message));
        self.bytes -= freed;
        freed
    }
}

/// About what a message takes in memory.
fn weight(message: &Message) -> usize {
    let targets: usize = message
        .targets
        .iter()
        .map(|t| t.len() + size_of::<String>())
        .sum();
    let site = message.site.as_ref().map_or(0, String::len);
    size_of::<Capture>() + message.content.weight() + site + targets
}

impl Default for Captured {
    fn default() -> Self {
        Self::keeping(KEPT_MESSAGES)
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Captured")
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Channel, Content, NotificationId, ProviderId, TenantId, Timestamp};

    fn owner(tenant: i32, provider: &str) -> Owner {
        Owner {
            tenant: TenantId(tenant),
            provider: ProviderId::new(provider),
        }
    }

    fn message(subject: &str, bytes: usize) -> Message {
        Message {
            id: NotificationId::mint(),
            content: Box::new(Content {
                channel: Some(Channel::Capture),
                subject: subject.into(),
                body: "x".repeat(bytes),
                ..Content::default()
            }),
            targets: vec![],
            site: None,
            trace: None,
            unsubscribe: None,
            created_at: Timestamp::from_millis(0),
        }
    }

    fn subjects(captured: &Captured, owner: &Owner) -> Vec<String> {
        let kept = captured.of(owner);
        kept.into_iter().map(|c| c.message.content.subject).collect()
    }

    #[test]
    fn each_provider_of_each_tenant_sees_its_own_last_messages() {
        let captured = Captured::keeping(2);
        let (mine, other, elsewhere) = (owner(1, "a"), owner(1, "b"), owner(2, "a"));
        for (owner, subject) in [
            (&mine, "1"),
            (&other, "2"),
            (&mine, "3"),
            (&mine, "4"),
            (&elsewhere, "5"),
        ] {
            captured.keep(Some(owner), &message(subject, 1));
        }
        assert_eq!(subjects(&captured, &mine), ["3", "4"]);
        assert_eq!(subjects(&captured, &other), ["2"]);
        assert_eq!(subjects(&captured, &elsewhere), ["5"]);
        assert_eq!(subjects(&captured, &owner(2, "b")), [""; 0]);
        assert_eq!(captured.total(), 5);
    }

    #[test]
    fn what_is_kept_stays_within_its_bytes_and_the_busiest_gives_way() {
        let captured = Captured::bounded(1_000, 100_000);
        let (quiet, busy) = (owner(1, "quiet"), owner(1, "busy"));
        captured.keep(Some(&quiet), &message("small", 100));
        for n in 0..500 {
            captured.keep(Some(&busy), &message(&n.to_string(), 10_000));
            assert!(captured.lock().bytes <= 100_000);
        }
        assert_eq!(subjects(&captured, &quiet), ["small"]);
        assert_eq!(subjects(&captured, &busy).last().unwrap(), "499");
        captured.keep(Some(&busy), &message("far too large", 200_000));
        let counted: usize = captured.lock().by_owner.values().map(|ring| ring.bytes).sum();
        assert_eq!(captured.lock().bytes, counted);
    }
}
