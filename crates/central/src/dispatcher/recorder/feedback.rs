//! What the recorder tells the dispatcher.

use crate::dispatcher::{Tally, lanes::Behaviour};
use domain::{LaneId, Timestamp};

#[derive(Debug)]
pub(in crate::dispatcher) enum Feedback {
    /// These attempts are over: their places in the lanes are free.
    Over(Vec<(LaneId, Behaviour)>),
    /// A probe is over, and whether the lane is still held.
    Probed {
        lane: LaneId,
        held: bool,
        next_probe: Option<Timestamp>,
    },
    Held {
        lane: LaneId,
        next_probe: Option<Timestamp>,
    },
    /// A row of the lane has become so many requests more than it was planned as.
    Requests {
        lane: LaneId,
        more: usize,
    },
    Paused {
        lane: LaneId,
        until: Timestamp,
    },
    /// So many rows are on record; lanes with rows to look at again at a time.
    Recorded {
        tally: Tally,
        again: Vec<(LaneId, Timestamp)>,
    },
}
