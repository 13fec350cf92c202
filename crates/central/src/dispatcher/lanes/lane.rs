//! One lane, and the gates it passes when its turn comes: each says that it is closed, and until when, or how much room
//! there is.

use super::under_way::{LaneCount, UnderWay};
use crate::dispatcher::gate::Gate;
use domain::{
    Limits, Timestamp,
    window::{Rate, Standing, Window},
};
use std::{sync::Arc, time::Duration};

/// The most bytes of content one claim is meant to bring. Rows are heavy one by one, not by surprise: a lane's first claims
/// are small.
const BYTES_PER_CLAIM: usize = 16 << 20;
/// With fewer places than this a lane is not claimed from ahead of them.
const CLAIM_AHEAD_FLOOR: usize = 16;
/// How long a lane with little room waits for more of it.
pub(super) const LITTLE_ROOM_WAIT: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Lane {
    /// Claimed and not yet finished.
    pub count: LaneCount,
    pub window: Window,
    pub turn: Turn,
    pub limits: Option<Limits>,
    /// Where its attempts are made.
    pub gate: Arc<Gate>,
    /// What its rows have weighed lately, in bytes each.
    pub weight: usize,
    /// A claim that is lost in a crash does no harm, so it may be made before there is a place for the row.
    pub may_claim_ahead: bool,
    pub rate: Option<Rate>,
    /// For lanes whose limits hold over all nodes: until when this node is the one that claims.
    pub owned_until: Option<Timestamp>,
    pub hold: LaneHold,
    pub not_before: Option<Timestamp>,
    /// This node cannot use it (no key for its secrets).
    pub skipped: bool,
}

/// When it is looked at.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub queued: bool,
    /// Had no room when its turn came, or little: queue it again when one of its attempts is over.
    pub wants_room: bool,
    /// Until then it is not claimed from for a few places only.
    pub little_room_until: Option<Timestamp>,
    pub timer: Option<Timestamp>,
}

/// What the store says about the lane's hold, remembered.
#[derive(Debug, Default)]
pub(super) struct LaneHold {
    pub held: bool,
    pub next_probe: Option<Timestamp>,
    pub probing: bool,
}

/// Why nothing is claimed from a lane in its turn.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Closed {
    /// Until something changes that queues it again.
    Skip,
    /// It is held; one row shows whether it still must be.
    Probe,
    Until(Timestamp),
    /// Until one of its own attempts is over.
    NoRoom,
    /// The same, or until this time.
    LittleRoom(Timestamp),
    /// Until an attempt of others is over.
    CrowdedOut,
}

impl Lane {
    pub fn new() -> Self {
        let window = Window::default();
        Self {
            count: LaneCount::new(window.standing()),
            window,
            turn: Turn::default(),
            limits: None,
            gate: Arc::new(Gate::new(1)),
            weight: 0,
            may_claim_ahead: false,
            rate: None,
            owned_until: None,
            hold: LaneHold::default(),
            not_before: None,
            skipped: false,
        }
    }

    /// Its limits hold over all nodes, so one of them claims from it at a time.
    pub fn has_one_owner(&self) -> bool {
        self.limits.as_ref().is_some_and(Limits::are_over_all_nodes)
    }

    pub fn concurrency(&self) -> u32 {
        self.limits.as_ref().map_or(1, |l| l.concurrency)
    }

    /// How much may be claimed from it now. `alone`: no other lane has its turn.
    pub fn ask(&mut self, now: Timestamp, alone: bool, others: &UnderWay) -> Result<usize, Closed> {
        self.usable()?;
        self.not_held(now)?;
        self.not_paused(now)?;
        let room = self.of_its_window(now, alone)?;
        let room = room.min(self.of_its_rate(now)?);
        let room = room.min(self.beside_others(others)?);
        Ok(room.min(self.light_enough()))
    }

    fn usable(&self) -> Result<(), Closed> {
        if self.skipped { Err(Closed::Skip) } else { Ok(()) }
    }

    fn not_held(&mut self, now: Timestamp) -> Result<(), Closed> {
        let hold = &mut self.hold;
        if !hold.held {
            return Ok(());
        }
        if hold.probing || hold.next_probe.is_none_or(|probe| probe > now) {
            return Err(Closed::Skip);
        }
        (hold.probing, hold.next_probe) = (true, None);
        Err(Closed::Probe)
    }

    fn not_paused(&self, now: Timestamp) -> Result<(), Closed> {
        match self.not_before.filter(|until| *until > now) {
            Some(until) => Err(Closed::Until(until)),
            None => Ok(()),
        }
    }

    fn of_its_window(&mut self, now: Timestamp, alone: bool) -> Result<usize, Closed> {
        let (room, enough) = self.room(alone);
        if room == 0 {
            return Err(Closed::NoRoom);
        }
        if room < enough {
            // A far end that is quick makes more room at once; one that is slow must not keep back what could go.
            let until = *self.turn.little_room_until.get_or_insert(now + LITTLE_ROOM_WAIT);
            if now < until {
                return Err(Closed::LittleRoom(until));
            }
        }
        self.turn.little_room_until = None;
        Ok(room)
    }

    fn of_its_rate(&mut self, now: Timestamp) -> Result<usize, Closed> {
        let Some(rate) = &mut self.rate else {
            return Ok(usize::MAX);
        };
        match rate.available(now) {
            0 => Err(Closed::Until(rate.next())),
            room => Ok(room),
        }
    }

    fn beside_others(&self, others: &UnderWay) -> Result<usize, Closed> {
        match others.room(&self.count) {
            0 => Err(Closed::CrowdedOut),
            room => Ok(room),
        }
    }

    fn light_enough(&self) -> usize {
        (BYTES_PER_CLAIM / self.weight.max(1)).max(1)
    }

    /// How much may be claimed, and how much makes a claim worth its price: it costs the store as much as thirty rows do.
    fn room(&self, alone: bool) -> (usize, usize) {
        let (size, ahead) = (
            self.window.size(self.concurrency()),
            if alone { self.ahead() } else { 0 },
        );
        let enough = if ahead > 0 { size } else { size / 4 };
        ((size + ahead).saturating_sub(self.count.get()), enough.max(1))
    }

    /// Rows to have ready for when places come free, so that a far end that is quick does not wait for the store. Not for
    /// few places: claims are cheap there, and order is kept.
    fn ahead(&self) -> usize {
        let concurrency = self.concurrency() as usize;
        let answering = self.window.standing() == Standing::Answering;
        let wide_open =
            answering && self.window.size(self.concurrency()) == concurrency && self.rate.is_none();
        let worth_it = self.may_claim_ahead && concurrency >= CLAIM_AHEAD_FLOOR;
        if wide_open && worth_it { concurrency } else { 0 }
    }
}
