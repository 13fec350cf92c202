//! What this machine has heard of the other, and what follows from it.

use super::Pair;
use domain::{
    Timestamp,
    lock::lock,
    pair::{Node, Role, Standing},
};
use link::peer::About;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// A standby whose copy has lacked something for longer than this, and than a lease, gives no lease and is left behind.
pub const LONGEST_LAG: Duration = Duration::from_secs(5);
/// The longest that is remembered for a machine that is away what it has not been told.
const LONGEST_MEMORY: Duration = Duration::from_secs(90 * 24 * 3600);

/// What this machine has heard of the other.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// When it was heard last, by whichever way.
    pub(super) heard_at: Option<Timestamp>,
    pub(super) about: Option<About>,
    pub(super) node: Option<Node>,
    /// Why it cannot be asked.
    pub(super) trouble: Option<String>,
    /// Why what it has cannot be written down here.
    pub(super) unwritten: Option<String>,
    /// Up to where the copy goes, and up to where it could go.
    pub(super) copy: Option<(i64, i64)>,
    /// When nothing was missing in the copy.
    pub(super) whole_at: Option<Timestamp>,
    whole_since: Option<Instant>,
    /// Rows of a whole copy that have come so far.
    pub(super) copied: Option<u64>,
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

    /// The other asks over a connection that it had before.
    pub(super) fn asks_again(&self) {
        lock(&self.seen).heard_at = Some(self.clock.now());
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

    /// Whether that is so now.
    pub(super) fn is_unwritten(&self) -> bool {
        lock(&self.seen).unwritten.is_some()
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

    /// How long what has ended is remembered here, instead of `retention`: the other machine may come back after longer, and would make
    /// again what nobody can tell it of. What ended before its copy was whole it has.
    pub(crate) fn remembers_for(&self, retention: Duration) -> Duration {
        let standing = self.standing();
        if standing.sole {
            return retention;
        }
        let whole_at = lock(&self.seen).whole_at;
        remembered(retention, whole_at.map(|at| self.clock.now().since(at)))
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
}

/// At least since the copy was whole, if that is known to have been.
fn remembered(retention: Duration, whole_ago: Option<Duration>) -> Duration {
    let missed = whole_ago.map_or(LONGEST_MEMORY, |ago| ago.min(LONGEST_MEMORY));
    retention.max(missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_other_machine_lacks_is_remembered_until_it_is_told_but_not_for_ever() {
        let days = |n: u64| Duration::from_secs(n * 24 * 3600);
        assert_eq!(remembered(days(7), Some(days(0))), days(7));
        assert_eq!(remembered(days(7), Some(days(8))), days(8));
        assert_eq!(remembered(days(7), Some(days(1_000))), days(90));
        assert_eq!(
            remembered(days(7), None),
            days(90),
            "it has not come since this start"
        );
        assert_eq!(remembered(days(365), None), days(365));
    }
}
