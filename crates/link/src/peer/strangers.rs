//! Machines that are turned away before anything is said to them, and the line in the log that names them. They come again
//! every few seconds: each reason has one line a minute.

use super::{PROTOCOL, wire::v1};
use crate::transport::Peer;
use domain::{SiteId, lock::lock};
use std::{sync::Mutex, time::Duration};
use tokio::time::Instant;
use tonic::Status;

/// How long nothing more is logged of machines that are turned away for the same reason.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// So much is logged of what a stranger calls its site.
const NAME_CHARS: usize = 64;

/// Why a machine is turned away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stranger {
    WrongKey,
    OtherSite { theirs: String, ours: String },
    OtherProtocol(u32),
}

impl Stranger {
    /// One that says by itself that it does not belong here.
    pub fn of(meeting: &v1::Meeting, site: &SiteId) -> Option<Self> {
        if meeting.protocol != PROTOCOL {
            return Some(Self::OtherProtocol(meeting.protocol));
        }
        (meeting.site != site.as_str()).then(|| Self::OtherSite {
            theirs: meeting.site.chars().take(NAME_CHARS).collect(),
            ours: site.to_string(),
        })
    }

    /// What it is told.
    pub fn refusal(&self) -> Status {
        match self {
            Self::WrongKey => Status::permission_denied("the key is not the one of this site"),
            Self::OtherSite { ours, .. } => Status::permission_denied(format!("this is site {ours}")),
            Self::OtherProtocol(theirs) => Status::failed_precondition(format!(
                "the other machine speaks version {theirs}, this one speaks {PROTOCOL}; the older one has to be updated"
            )),
        }
    }

    /// What is logged.
    fn words(&self) -> String {
        match self {
            Self::WrongKey => "it does not have this site's key".into(),
            Self::OtherSite { theirs, .. } => format!("it belongs to site {theirs:?}"),
            Self::OtherProtocol(theirs) => {
                format!(
                    "it speaks version {theirs} and this machine {PROTOCOL}: the older one has to be updated"
                )
            }
        }
    }

    fn place(&self) -> usize {
        match self {
            Self::WrongKey => 0,
            Self::OtherSite { .. } => 1,
            Self::OtherProtocol(_) => 2,
        }
    }
}

/// When a line was last written for each reason.
#[derive(Debug, Default)]
pub(super) struct TurnedAway(Mutex<[Option<Instant>; 3]>);

impl TurnedAway {
    /// Names the machine in the log, unless one was named for the same reason a moment ago; and what it is told.
    pub fn turn_away(&self, stranger: &Stranger, peer: Option<&Peer>) -> Status {
        if self.is_due(stranger) {
            let from = peer.map_or("unknown", |peer| &*peer.name);
            tracing::warn!(
                peer = from,
                reason = stranger.words(),
                "a machine that is not the other one of this site was turned away"
            );
        }
        stranger.refusal()
    }

    fn is_due(&self, stranger: &Stranger) -> bool {
        let mut told = lock(&self.0);
        let last = &mut told[stranger.place()];
        let due = last.is_none_or(|at| at.elapsed() >= TOLD_EVERY);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meeting(protocol: u32, site: &str) -> v1::Meeting {
        v1::Meeting {
            protocol,
            site: site.into(),
            nonce: vec![],
        }
    }

    #[test]
    fn a_machine_that_speaks_another_version_or_is_of_another_site_is_a_stranger() {
        let north = SiteId::new("north");
        assert_eq!(Stranger::of(&meeting(PROTOCOL, "north"), &north), None);
        let newer = Stranger::of(&meeting(PROTOCOL + 1, "north"), &north).unwrap();
        assert!(
            newer.words().contains("speaks version 3 and this machine 2"),
            "{newer:?}"
        );
        let long = "south\n".repeat(100);
        let south = Stranger::of(&meeting(PROTOCOL, &long), &north).unwrap();
        assert!(
            !south.words().contains('\n') && south.words().len() < 150,
            "{south:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn each_reason_has_one_line_a_minute() {
        let away = TurnedAway::default();
        let version = Stranger::OtherProtocol(2);
        assert!(away.is_due(&Stranger::WrongKey) && away.is_due(&version));
        assert!(!away.is_due(&Stranger::WrongKey) && !away.is_due(&version));
        tokio::time::advance(TOLD_EVERY).await;
        assert!(away.is_due(&Stranger::WrongKey));
    }
}
