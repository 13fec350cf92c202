//! Why a lane is held, and what helps, in words.

use super::ADDRESS_REFUSED;
use crate::{Hold, HoldReason};
use std::borrow::Cow;

impl Hold {
    /// Why it is held, for people, without a full stop.
    pub fn in_words(&self) -> Cow<'static, str> {
        match (self.reason, &self.by) {
            (HoldReason::Operator, Some(by)) => format!("stopped by {by}").into(),
            (HoldReason::Disabled, Some(by)) => format!("switched off by {by}").into(),
            (HoldReason::Config, _) if self.code.as_deref() == Some(ADDRESS_REFUSED) => {
                "waypost refuses to connect to its address".into()
            }
            (reason, _) => reason.in_words().into(),
        }
    }
}

impl HoldReason {
    /// For people, without a full stop.
    pub fn in_words(self) -> &'static str {
        match self {
            HoldReason::Auth => "the provider refuses our credentials",
            HoldReason::Quota => "the provider's quota is used up",
            HoldReason::Billing => "the provider wants money",
            HoldReason::Config => "a setting of the provider is wrong",
            HoldReason::Down => "the provider does not answer",
            HoldReason::Operator => "stopped by an operator",
            HoldReason::Disabled => "the provider is switched off",
        }
    }
}

pub(super) fn hold_advice(id: &str, hold: &Hold) -> String {
    match hold.reason {
        HoldReason::Auth => format!(
            "Its credentials were refused. Set the right ones in the console under Change settings, or with \
             `waypost provider set {id} NAME=-`, which asks for it; what waits goes out then."
        ),
        HoldReason::Quota => "Its quota is used up: raise it, or wait.".into(),
        HoldReason::Billing => {
            format!("It wants money: settle that with the provider, then `waypost provider resume {id}`.")
        }
        HoldReason::Config if hold.code.as_deref() == Some(ADDRESS_REFUSED) => format!(
            "It is at an address that is not public, which central connects to only where its configuration says so. Add the line it \
             names to the configuration and start central again, or correct the address (`waypost provider set {id} \
             NAME=VALUE`)."
        ),
        HoldReason::Config => format!(
            "A setting of it is wrong, as its far end says. Correct it (`waypost provider set {id} NAME=VALUE`); what \
             waits goes out then."
        ),
        HoldReason::Down => format!("It does not answer. `waypost provider test {id}` says more."),
        HoldReason::Operator => format!("Somebody stopped it. `waypost provider resume {id}` lets it go on."),
        HoldReason::Disabled => {
            format!("It is switched off. `waypost provider set {id} --enabled true` switches it on.")
        }
    }
}

pub(super) fn unsealing(id: &str) -> String {
    format!(
        "Give central the key they were sealed with (secrets.key, or secrets.previous), or set them anew (`waypost provider \
         set {id}`). Nothing is lost meanwhile."
    )
}

pub(super) fn failing_advice(id: &str) -> String {
    format!(
        "`waypost list --provider {id}` shows what it concerns, `waypost show ID --transcript` what the far end said; `waypost \
         provider test {id}` tries by hand."
    )
}
