//! A waiting message tried at a person's word: what they are told, here and at central.
//!
//! Always true: the attempt runs to its end, whether or not anybody waits for it.

use super::{is_parked, is_under_way};
use crate::{engine::TriedNow, parked::not_holder, site::Site};
use domain::{Actor, chain, site::WaitingStatus};
use link::{TRY_ANSWER_WITHIN, WaitingActed};
use std::sync::Arc;
use store::buffer::{MessageId, Step};
use tokio::time::timeout;

/// Has one tried for central, which does not wait as long as an attempt may take, and asks the other machine where this one
/// may not make it.
pub(crate) async fn try_for_central(
    site: &Arc<Site>,
    id: MessageId,
    actor: Actor,
) -> Result<WaitingActed, String> {
    let trying = {
        let site = site.clone();
        // By itself: given up in the middle, it would leave a message that counts as being tried.
        tokio::spawn(async move { site.engine.try_waiting(id, &actor).await })
    };
    match timeout(TRY_ANSWER_WITHIN, trying).await {
        Err(_) => Ok(WaitingActed::Done {
            status: WaitingStatus::Trying,
            error: None,
        }),
        Ok(Err(_)) => Err("the attempt was broken off by a fault of the site's own".into()),
        Ok(Ok(Err(error))) => Err(chain(&error)),
        Ok(Ok(Ok(TriedNow::Held(why)))) => Err(chain(&not_holder(&why))),
        Ok(Ok(Ok(tried))) => Ok(tried.into()),
    }
}

impl From<TriedNow> for WaitingActed {
    fn from(tried: TriedNow) -> Self {
        let (status, error) = match tried {
            TriedNow::Forwarding => (WaitingStatus::Forwarding, None),
            TriedNow::Tried(tried) => match tried.step {
                Step::Delivered => (WaitingStatus::Delivered, None),
                Step::Park { error, .. } | Step::Failed { error } => (WaitingStatus::Parked, Some(error)),
                Step::Retry { error, .. } => (WaitingStatus::Retrying, Some(error)),
                // The agent stops, or the lease has ended in the middle.
                Step::Released => {
                    let why = tried.answer.err().map(|failed| failed.failure.detail);
                    (WaitingStatus::Retrying, why)
                }
            },
            TriedNow::NotFound => return Self::NotFound,
            TriedNow::Parked => return is_parked(),
            TriedNow::UnderWay => return is_under_way(),
            TriedNow::Held(why) => return Self::WrongState(format!("the message is held: {why}")),
            TriedNow::NobodyDelivers(message) => {
                return Self::WrongState(format!(
                    "{} is not in the configuration of this site; the message stays until it is, or until it is discarded",
                    message.target
                ));
            }
        };
        Self::Done { status, error }
    }
}
