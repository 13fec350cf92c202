//! What is known of the other machine, and what is shown of the pair.

use super::Pair;
use domain::{
    Timestamp,
    lock::lock,
    pair::{Giver, Node, Role, Standing, lease::LONGEST_LEASE},
};
use link::{PairReport, peer::About};
use std::{collections::BTreeMap, sync::atomic::Ordering, time::Duration};
use tokio::time::Instant;
use uuid::Uuid;

/// What this machine has heard of the other.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// When it was heard last, by whichever way.
    heard_at: Option<Timestamp>,
    about: Option<About>,
    node: Option<Node>,
    /// Why it cannot be asked.
    trouble: Option<String>,
    /// Why what it has cannot be written down here.
    unwritten: Option<String>,
    /// Up to where the copy goes, and up to where it could go.
    copy: Option<(i64, i64)>,
    /// When nothing was missing in the copy.
    whole_at: Option<Timestamp>,
    whole_since: Option<Instant>,
    /// Rows of a whole copy that have come so far.
    copied: Option<u64>,
}

/// The pair, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairStatus {
    pub role: Role,
    /// How often the active one has changed.
    pub epoch: u64,
    /// The last change in the copy, or of the active.
    pub position: i64,
    /// Changes that the copy lacks; none where that is not known.
    pub behind: Option<u64>,
    /// How long ago the copy was known to be whole.
    pub behind_for: Option<Duration>,
    /// The copy was whole when it was last brought up to date.
    pub caught_up: bool,
    /// Rows of a whole copy that have come so far, while one is being made.
    pub copied: Option<u64>,
    /// Sends should wait for the standby, and do not because it does not follow.
    pub alone: bool,
    /// The right to attempt what both machines know: who gave it, and how much of it is left.
    pub lease: Option<(LeaseBy, Duration)>,
    /// Why calls and writes that both machines know are not attempted.
    pub held: Option<String>,
    /// Messages that the other machine has never been shown: of an active one, counted up to [`MOST_COUNTED`]; of a standby, those
    /// it accepted while the active one could not be reached.
    pub own: Option<u64>,
    pub other: OtherMachine,
    /// What differs between the two, in words.
    pub differences: Vec<String>,
}

/// A standby whose copy has lacked something for longer than this, and than a lease, gives no lease and is left behind.
pub const LONGEST_LAG: Duration = Duration::from_secs(5);
/// Messages of this machine alone that are counted.
pub const MOST_COUNTED: u32 = 10_000;

/// Who gave the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseBy {
    Standby,
    Witness,
    /// Nobody: no other machine has anything of this one, or a person said that it does not run.
    Nobody,
}

impl LeaseBy {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standby => "Standby",
            Self::Witness => "Central",
            Self::Nobody => "Nobody",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OtherMachine {
    pub address: String,
    pub name: Option<String>,
    pub version: Option<String>,
    pub role: Option<Role>,
    pub last_contact_at: Option<Timestamp>,
    /// Why it cannot be asked.
    pub trouble: Option<String>,
}

/// What the gauges show.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Changes the copy lacked when it was last heard of.
    pub behind: u64,
    /// How long ago it lacked none.
    pub behind_for: Option<Duration>,
    /// Whether the other can be asked.
    pub reachable: bool,
    /// What is left of the lease.
    pub lease: Duration,
    /// Messages that only this machine has.
    pub own: u64,
}

impl Seen {
    /// Why the other cannot be asked.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }
}

impl Pair {
    /// The other has answered, or asked.
    pub(super) fn heard(&self, about: Option<&About>, node: &Node) {
        let mut seen = lock(&self.seen);
        seen.heard_at = Some(self.clock.now());
        seen.node = Some(node.clone());
        if let Some(about) = about {
            // Who asks does not say what it can reach.
            let known = seen.about.take().map(|known| known.targets).unwrap_or_default();
            let targets = match about.targets.is_empty() {
                true => known,
                false => about.targets.clone(),
            };
            seen.about = Some(About {
                targets,
                ..about.clone()
            });
        }
    }

    pub(super) fn answered(&self, about: Option<&About>, node: &Node) {
        self.heard(about, node);
        lock(&self.seen).trouble = None;
    }

    /// It could not be asked. Logged once, when that begins.
    pub(super) fn trouble(&self, why: &str) {
        let before = lock(&self.seen).trouble.replace(why.to_owned());
        if before.as_deref() != Some(why) {
            tracing::warn!(reason = why, "the other machine of this site cannot be asked");
        }
    }

    /// The copy goes up to `position`, and `head` is where the active was then.
    pub(super) fn copied_to(&self, position: i64, head: i64) {
        let mut seen = lock(&self.seen);
        let now = self.clock.now();
        (seen.heard_at, seen.copy) = (Some(now), Some((position, head)));
        seen.unwritten = None;
        if position >= head {
            (seen.whole_at, seen.whole_since) = (Some(now), Some(Instant::now()));
        }
    }

    /// What the other has cannot be written down here; in words. Logged once, when that begins.
    pub(super) fn cannot_write(&self, error: &store::Error) -> String {
        let why = format!(
            "what the other machine has cannot be written down here: {}",
            domain::chain(error)
        );
        if lock(&self.seen).unwritten.replace(why.clone()).is_none() {
            tracing::error!(reason = why, "this standby does not follow");
        }
        why
    }

    /// Whether that is why.
    pub(super) fn has_no_room(&self, why: &str) -> bool {
        lock(&self.seen).unwritten.as_deref() == Some(why)
    }

    /// Whether nothing was missing in the copy a moment ago. A standby that has fallen behind for longer gives no lease: whoever took
    /// over with such a copy would make too much again.
    pub(super) fn had_all_within(&self, lease: Duration) -> bool {
        let since = lock(&self.seen).whole_since;
        since.is_some_and(|since| since.elapsed() < lease.max(LONGEST_LAG))
    }

    pub(super) fn copying(&self, rows: Option<u64>) {
        lock(&self.seen).copied = rows;
    }

    /// Up to where the other has everything on its disk, as far as it has said.
    pub(super) fn standby_has(&self) -> i64 {
        lock(&self.seen).copy.map_or(0, |(position, _)| position)
    }

    /// Under which id the other machine has joined, where this one, which is active, does not vouch for it yet.
    pub(super) fn joins(&self, standing: &Standing) -> Option<Uuid> {
        let seen = lock(&self.seen);
        seen.node.as_ref()?.joins(&standing.history, standing.vouches)
    }

    /// Whether no active machine is heard of, and this one has at least as much as the other.
    pub(super) fn nobody_leads(&self) -> bool {
        let seen = lock(&self.seen);
        let standing = self.standing();
        match &seen.node {
            _ if seen.trouble.is_some() => true,
            Some(other) if other.role == Role::Standby => {
                let ours = (standing.history.rank(), standing.position, self.buffer.id());
                ours > (other.history.rank(), other.position, other.id)
            }
            Some(_) | None => false,
        }
    }

    /// For the gauges, without asking the file.
    pub(crate) fn figures(&self) -> Figures {
        let lease = self.lease().map(|(_, left)| left.min(LONGEST_LEASE));
        let seen = lock(&self.seen);
        let behind = seen
            .copy
            .map_or(0, |(position, head)| head.saturating_sub(position).max(0));
        Figures {
            behind: behind.unsigned_abs(),
            behind_for: seen.whole_at.map(|at| self.clock.now().since(at)),
            reachable: seen.heard_at.is_some() && seen.trouble.is_none(),
            lease: lease.unwrap_or_default(),
            own: match self.role() {
                Role::Active => self.unshown.load(Ordering::Relaxed),
                Role::Standby => self.own.count(),
            },
        }
    }

    /// Messages that only this machine has, as far as it knows.
    async fn count_own(&self) -> Option<u64> {
        if self.role() == Role::Standby {
            return Some(self.own.count());
        }
        let from = self.own_from.load(Ordering::SeqCst);
        let own = self.buffer.messages_from(from, MOST_COUNTED).await.ok()?;
        self.unshown.store(own, Ordering::Relaxed);
        Some(own)
    }

    pub async fn status(&self) -> PairStatus {
        let standing = self.standing();
        let head = match standing.role {
            Role::Active => self.buffer.head().await.ok(),
            Role::Standby => None,
        };
        let own = self.count_own().await;
        let seen = lock(&self.seen);
        let behind = seen.copy.map(|(position, then)| {
            head.unwrap_or(then)
                .saturating_sub(position)
                .max(0)
                .unsigned_abs()
        });
        let now = self.clock.now();
        PairStatus {
            role: standing.role,
            epoch: standing.history.rank().0,
            position: head.unwrap_or(standing.position),
            behind,
            behind_for: seen.whole_at.map(|at| now.since(at)),
            caught_up: standing.caught_up,
            copied: seen.copied,
            alone: self.is_alone(),
            lease: self.lease(),
            held: self.held(),
            own,
            other: OtherMachine {
                address: self.settings.peer.address.to_string(),
                name: seen.about.as_ref().map(|about| about.name.clone()),
                version: seen.about.as_ref().map(|about| about.version.clone()),
                role: seen.node.as_ref().map(|node| node.role),
                last_contact_at: seen.heard_at,
                trouble: seen.trouble.clone().or_else(|| seen.unwritten.clone()),
            },
            differences: self.differences(&seen),
        }
    }

    /// The lease of an active machine, where one is needed.
    fn lease(&self) -> Option<(LeaseBy, Duration)> {
        let standing = self.standing();
        let leases = self.leases().filter(|_| standing.role == Role::Active)?;
        if standing.sole {
            return Some((LeaseBy::Nobody, Duration::MAX));
        }
        let held = leases.held()?;
        let by = match held.by {
            Giver::Standby => LeaseBy::Standby,
            Giver::Witness => LeaseBy::Witness,
        };
        Some((by, held.left))
    }

    /// As central is told.
    pub(crate) async fn report(&self) -> PairReport {
        let status = self.status().await;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        PairReport {
            role: status.role.as_str().into(),
            turn: status.epoch,
            lease_by: status.lease.map(|(by, _)| by.as_str().into()),
            lease_ms: status.lease.map_or(0, |(_, left)| millis(left)),
            held: status.held,
            own: status.own,
            behind: status.behind,
            behind_ms: status.behind_for.map(millis),
            caught_up: status.caught_up,
            other: status.other.name,
            other_role: status.other.role.map(|role| role.as_str().into()),
            last_contact: status.other.last_contact_at,
            trouble: status.other.trouble,
        }
    }

    fn differences(&self, seen: &Seen) -> Vec<String> {
        let mut all: Vec<_> = self
            .settings
            .local_targets
            .iter()
            .map(|name| format!("{name} leads to this machine itself, which is another one after a takeover"))
            .collect();
        if let Some(about) = seen.about.as_ref().filter(|about| !about.targets.is_empty()) {
            all.extend(compared(&self.settings.targets, &about.targets));
        }
        all
    }
}

/// How the systems and connections of the two differ.
fn compared(here: &BTreeMap<String, Vec<u8>>, there: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let mut all = vec![];
    for (name, digest) in here {
        match there.get(name) {
            None => all.push(format!("{name} is configured here and not at the other machine")),
            Some(other) if other != digest => {
                all.push(format!("{name} is configured otherwise at the other machine"));
            }
            Some(_) => {}
        }
    }
    let only_there = there.keys().filter(|name| !here.contains_key(*name));
    all.extend(only_there.map(|name| format!("{name} is configured at the other machine and not here")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_the_machines_is_said_in_words() {
        let of = |targets: &[(&str, u8)]| {
            let named = targets.iter().map(|(name, n)| ((*name).to_owned(), vec![*n]));
            named.collect::<BTreeMap<_, _>>()
        };
        let (here, there) = (
            of(&[("erp", 1), ("mes", 1), ("history", 1)]),
            of(&[("erp", 1), ("mes", 2), ("lab", 1)]),
        );
        assert_eq!(
            compared(&here, &there),
            [
                "history is configured here and not at the other machine",
                "mes is configured otherwise at the other machine",
                "lab is configured at the other machine and not here",
            ]
        );
        assert!(compared(&here, &here).is_empty());
    }
}
