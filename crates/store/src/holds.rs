//! When a lane is held, and when a hold ends: decided on what a twin found in the lane's row, which it keeps locked.

use crate::{Error, Result, audit::Entry, outbox::HoldLane};
use domain::{Actor, AuditKind, HoldReason, TenantId};

/// A lane as somebody finds it who would hold or resume it.
#[derive(Debug)]
pub(crate) struct FoundLane {
    pub tenant: TenantId,
    pub provider: String,
    pub config_version: i64,
    pub held: Option<HoldReason>,
    /// A probe of the hold is under way.
    pub probing: bool,
}

/// What asking for a hold comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// The hold is written, and audited.
    Set,
    /// The probe of this hold has come back with nothing better.
    ProbeFailed,
    /// Nothing changes; whether the hold is in force as asked.
    Stays(bool),
}

impl FoundLane {
    pub fn hold(&self, ask: &HoldLane) -> Result<Holding> {
        if ask
            .config_version
            .is_some_and(|version| version != self.config_version)
        {
            return Ok(Holding::Stays(false));
        }
        let by_operator = ask.reason == HoldReason::Operator;
        Ok(match self.held {
            // A probe that asked nobody has no reason of its own, and somebody has resumed the lane meanwhile.
            None if !ask.probe_asked() => Holding::Stays(false),
            None => Holding::Set,
            Some(HoldReason::Disabled) if by_operator => return Err(self.switched_off()),
            // A person's hold is not ended by a probe, so it replaces one that would be.
            Some(held) if by_operator && held != HoldReason::Operator => Holding::Set,
            Some(held) if self.probing && held.is_probed() && ask.reason.is_probed() => Holding::ProbeFailed,
            Some(held) => Holding::Stays(held == ask.reason),
        })
    }

    /// The hold to end; none when there is none, or one for another reason than `only`.
    pub fn resume(&self, only: Option<HoldReason>) -> Result<Option<HoldReason>> {
        match self.held.filter(|held| only.is_none_or(|only| only == *held)) {
            Some(HoldReason::Disabled) => Err(self.switched_off()),
            held => Ok(held),
        }
    }

    /// Whether it can be tried at once: a hold that no probe ends is for a person to end.
    pub fn check_tried(&self) -> Result<()> {
        match self.held {
            Some(HoldReason::Disabled) => Err(self.switched_off()),
            Some(held) if !held.is_probed() => Err(Error::Conflict(format!(
                "provider {} is held until somebody resumes it",
                self.provider
            ))),
            _ => Ok(()),
        }
    }

    pub fn tried_entry<'a>(&'a self, actor: &'a Actor) -> Entry<'a> {
        Entry {
            target: Some(&self.provider),
            code: self.held.map(HoldReason::as_str),
            ..Entry::new(self.tenant, AuditKind::LaneTried, actor)
        }
    }

    pub fn held_entry<'a>(&'a self, ask: &'a HoldLane) -> Entry<'a> {
        Entry {
            target: Some(&self.provider),
            code: Some(ask.reason.as_str()),
            detail: ask.detail.as_deref(),
            ..Entry::new(self.tenant, AuditKind::LaneHeld, &ask.actor)
        }
    }

    pub fn resumed_entry<'a>(&'a self, held: HoldReason, actor: &'a Actor) -> Entry<'a> {
        Entry {
            target: Some(&self.provider),
            code: Some(held.as_str()),
            ..Entry::new(self.tenant, AuditKind::LaneResumed, actor)
        }
    }

    fn switched_off(&self) -> Error {
        Error::Conflict(format!(
            "provider {} is switched off, which holds it until it is switched on",
            self.provider
        ))
    }
}
