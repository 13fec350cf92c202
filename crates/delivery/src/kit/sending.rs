//! One message on its way to one place.

use super::with_reference;
use crate::{adapter::Message, http::Meaning};
use domain::Timestamp;

/// What a request is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sending<'a> {
    pub message: &'a Message,
    /// `None`: the settings alone say where it goes.
    pub target: Option<&'a str>,
    /// How often somebody has sent it on its way again; ids that a service tells repeats by carry it.
    pub generation: i32,
    pub now: Timestamp,
    /// Where the service is to send receipts, of those that are told with each message.
    pub callback_url: Option<&'a str>,
}

impl Sending<'_> {
    /// An id that is the same over the attempts for one recipient of one generation.
    pub fn repeat_id(&self) -> String {
        let mut id = format!("{}.{}", self.message.id, self.generation);
        if let Some(target) = self.target {
            id.push('.');
            id.push_str(target);
        }
        id
    }

    /// Where receipts of this message go, for services that repeat nothing but the address.
    pub fn own_callback_url(&self) -> Option<String> {
        let reference = self.repeat_id();
        self.callback_url.map(|url| with_reference(url, &reference))
    }

    /// How long the message is still of use, for services that can be told; at least a second.
    pub fn seconds_left(&self) -> Option<u64> {
        let expires = self.message.content.expires_at?;
        Some(expires.since(self.now).as_secs().max(1))
    }

    /// The place does not exist: the recipient's fault where one was named, otherwise the settings'.
    pub fn no_such_place(&self) -> Meaning {
        match self.target {
            Some(_) => Meaning::recipient(),
            None => Meaning::config(),
        }
    }
}
