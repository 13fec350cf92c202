//! Where a notification stands: from the buffer while it is here, from central when it is not, and honestly when
//! central cannot be asked.

use crate::site::Site;
use domain::{NotificationId, Status, Timestamp, TrackedOperationId, lock::lock, pair::Role};
use link::RemoteStatus;
use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};
use store::buffer::{End, Message, MessageStatus, Tombstone, Tracking};

/// Answers of central that are remembered.
const HEARD_STATUSES: usize = 1_000;
/// How long somebody who asks is kept waiting for central.
const CENTRAL_STATUS_TIMEOUT: Duration = Duration::from_secs(10);

/// The answer to "where is it".
#[derive(Debug, Clone, PartialEq)]
pub enum Whereabouts {
    /// In this site's buffer, on its way to central.
    Forwarding(Box<Message>),
    /// In this site's buffer, waiting for a person.
    ParkedHere(Box<Message>),
    /// A person gave it up here.
    DiscardedHere(Box<Tombstone>),
    /// At central, in central's words.
    Central(RemoteStatus),
    /// Central has it, but cannot be asked, or knows nothing of it.
    Unknown {
        why: String,
        /// When central acknowledged it, if that is still known.
        handed_over_at: Option<Timestamp>,
        /// What central said last, and when.
        last: Option<(RemoteStatus, Timestamp)>,
    },
    /// Neither this site nor central has ever seen it.
    NeverSeen,
    /// This site has no trace of it, and central cannot be asked.
    CannotSay { why: String },
    /// This machine is the standby and has no trace of it; the active one can ask central.
    AskTheActive { why: String },
}

/// The last answers, the oldest forgotten first.
#[derive(Debug, Default)]
pub(crate) struct LastAnswers {
    answers: HashMap<NotificationId, (RemoteStatus, Timestamp)>,
    order: VecDeque<NotificationId>,
}

impl LastAnswers {
    fn keep(&mut self, id: NotificationId, status: RemoteStatus, at: Timestamp) {
        if self.answers.insert(id, (status, at)).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > HEARD_STATUSES
            && let Some(oldest) = self.order.pop_front()
        {
            self.answers.remove(&oldest);
        }
    }
}

impl Site {
    pub async fn whereabouts(&self, id: NotificationId) -> store::Result<Whereabouts> {
        if let Some(message) = self.buffer.message(id.into()).await? {
            return Ok(match message.status {
                MessageStatus::Pending => Whereabouts::Forwarding(Box::new(message)),
                MessageStatus::Parked => Whereabouts::ParkedHere(Box::new(message)),
            });
        }
        if let Some(pair) = self.pair()
            && let Some(message) = pair.own.message(id.into()).await?
        {
            return Ok(Whereabouts::Forwarding(Box::new(message)));
        }
        let tombstone = self.buffer.tombstone(id.into()).await?;
        let handed_over_at = match tombstone {
            Some(t) if t.end == End::Discarded => {
                return Ok(Whereabouts::DiscardedHere(Box::new(t)));
            }
            other => other.map(|t| t.at),
        };
        if let Some(pair) = self.pair().filter(|pair| pair.role() == Role::Standby) {
            let other = pair.other_name();
            let why =
                format!("this machine is the standby of its site and does not ask central; ask {other}");
            return Ok(match handed_over_at {
                Some(_) => self.unknown(id, &why, handed_over_at),
                None => Whereabouts::AskTheActive { why },
            });
        }
        Ok(match self.ask_central(id).await {
            Ok(Some(status)) => {
                self.heard().keep(id, status.clone(), self.clock.now());
                Whereabouts::Central(status)
            }
            Ok(None) if handed_over_at.is_none() => Whereabouts::NeverSeen,
            Ok(None) => self.unknown(
                id,
                "central acknowledged it and now knows nothing of it",
                handed_over_at,
            ),
            Err(why) => {
                let known = handed_over_at.is_some() || self.heard().answers.contains_key(&id);
                match known {
                    true => self.unknown(id, &why, handed_over_at),
                    false => Whereabouts::CannotSay { why },
                }
            }
        })
    }

    /// What became of a call or write, as far as this machine knows.
    pub async fn tracking(&self, id: TrackedOperationId) -> store::Result<Option<Tracking>> {
        match (self.buffer.tracking(id).await?, self.pair()) {
            (None, Some(pair)) => pair.own.tracking(id).await,
            (found, _) => Ok(found),
        }
    }

    async fn ask_central(&self, id: NotificationId) -> Result<Option<RemoteStatus>, String> {
        let Some(uplink) = self.uplink() else {
            return Err("no central is configured".to_owned());
        };
        match tokio::time::timeout(CENTRAL_STATUS_TIMEOUT, uplink.status(id)).await {
            Ok(answer) => answer.map_err(|down| down.to_string()),
            Err(_) => Err(format!(
                "central did not answer within {} s",
                CENTRAL_STATUS_TIMEOUT.as_secs()
            )),
        }
    }

    fn unknown(&self, id: NotificationId, why: &str, handed_over_at: Option<Timestamp>) -> Whereabouts {
        Whereabouts::Unknown {
            why: why.to_owned(),
            handed_over_at,
            last: self.heard().answers.get(&id).cloned(),
        }
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, LastAnswers> {
        lock(&self.heard)
    }
}

impl Whereabouts {
    /// The one word for it, where there is one.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Forwarding(_) => Some(Status::Forwarding),
            Self::ParkedHere(_) => Some(Status::Parked),
            Self::DiscardedHere(_) => Some(Status::Discarded),
            Self::Central(remote) => Some(remote.status),
            Self::Unknown { .. } | Self::NeverSeen | Self::CannotSay { .. } | Self::AskTheActive { .. } => {
                None
            }
        }
    }
}
