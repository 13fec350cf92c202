//! The pair, as it is shown: on the page, by the API and by the command line.

use super::Pair;
use domain::{
    Timestamp,
    lock::lock,
    pair::{Giver, Role},
};
use std::{sync::atomic::Ordering, time::Duration};

/// Messages of this machine alone that are counted.
pub const MOST_COUNTED: u32 = 10_000;

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
    /// The copy was whole when it was last brought up to date; of a standby that is not longer ago than it may lack something and still
    /// give the lease.
    pub caught_up: bool,
    /// Rows of a whole copy that have come so far, while one is being made.
    pub copied: Option<u64>,
    /// Sends should wait for the standby, and do not because it does not follow.
    pub alone: bool,
    /// The right to attempt what both machines know: who gave it, and how much of it is left.
    pub lease: Option<(LeaseBy, Duration)>,
    /// Why calls and writes that both machines know are not attempted.
    pub held: Option<String>,
    /// Why this machine would hand over by itself, and why it cannot.
    pub unrelieved: Option<String>,
    /// Messages that the other machine has never been shown: of an active one, counted up to [`MOST_COUNTED`]; of a standby, those
    /// it accepted while the active one could not be reached.
    pub own: Option<u64>,
    pub other: OtherMachine,
    /// What differs between the two, in words.
    pub differences: Vec<String>,
}

/// Who gave the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseBy {
    Standby,
    Witness,
    /// Nobody: no other machine has anything of this one, or a person said that it does not run.
    Nobody,
}

impl LeaseBy {
    pub(crate) const ALL: [Self; 3] = [Self::Standby, Self::Witness, Self::Nobody];

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

impl Pair {
    /// Messages that only this machine has, as far as it knows.
    async fn count_own(&self) -> Option<u64> {
        if self.role() == Role::Standby {
            return Some(self.own.count());
        }
        let from = self.own_attempts.first();
        let own = self.buffer.messages_from(from, MOST_COUNTED).await.ok()?;
        self.unshown.store(own, Ordering::Relaxed);
        Some(own)
    }

    /// What the other machine is called; where that is not known yet, its address.
    pub fn other_name(&self) -> String {
        let seen = lock(&self.seen);
        let name = seen.about.as_ref().map(|about| about.name.clone());
        name.unwrap_or_else(|| self.settings.peer.address.to_string())
    }

    pub async fn status(&self) -> PairStatus {
        let standing = self.standing();
        let head = match standing.role {
            Role::Active => self.buffer.head().await.ok(),
            Role::Standby => None,
        };
        let own = self.count_own().await;
        let recently = standing.role == Role::Active || self.had_all_within(self.lease_time());
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
            caught_up: standing.caught_up && recently,
            copied: seen.copied,
            alone: self.is_alone(),
            lease: self.lease(),
            held: self.held(),
            unrelieved: self.unrelieved(),
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
    pub(super) fn lease(&self) -> Option<(LeaseBy, Duration)> {
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
}
