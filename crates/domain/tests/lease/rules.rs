//! What holds in a world, and how often things happen in it.

use domain::pair::Terms;
use std::time::Duration;

/// Which rules are in force.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// A giver counts a tenth longer, and a margin.
    pub margin: bool,
    /// Nothing is asked or promised right after a start.
    pub quiet: bool,
    /// A stale machine attempts nothing that it inherited.
    pub stale: bool,
    pub notices_restore: bool,
    /// A machine with a new disk gives no lease, and is handed nothing over, until central has confirmed the turn it follows.
    pub confirmed: bool,
    /// Meeting a machine with a new disk, or one that is stale itself, ends nobody's staleness.
    pub brings_its_disk: bool,
    /// A turn is begun only by a file that is what it was when it asked.
    pub same_as_asked: bool,
    /// What was given for a question whose answer was lost is given for it again.
    pub same_question: bool,
    /// A machine that a person has go on begins a turn, and attempts nothing in one that the other may have seen.
    pub forced_turn: bool,
    /// An attempt that is under way when the lease ends is cut off.
    pub cuts: bool,
    /// A standby that gives no lease because it lags writes down that it has not caught up.
    pub marks_lag: bool,
    /// Central goes on counting a lease that it gave when its holder tells of a later turn.
    pub goes_on_counting: bool,
}

impl Rules {
    pub const ALL: Self = Self {
        margin: true,
        quiet: true,
        stale: true,
        notices_restore: true,
        confirmed: true,
        brings_its_disk: true,
        same_as_asked: true,
        same_question: true,
        marks_lag: true,
        forced_turn: true,
        goes_on_counting: true,
        cuts: true,
    };

    /// A tenth of a lease is a step of time, nearly: a clock that runs faster is a whole step ahead at its end.
    pub fn terms(self) -> Terms {
        let lease = Duration::from_millis(110);
        match self.margin {
            true => Terms {
                lease,
                margin: Duration::from_millis(4),
                drift: 10,
            },
            false => Terms {
                lease,
                margin: Duration::ZERO,
                drift: 0,
            },
        }
    }
}

/// How often things happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// A tenth of a lease, or nearly all of it.
    pub steps: u8,
    pub leaps: u8,
    pub questions: u8,
    pub handovers: u8,
    pub crashes: u8,
    pub lost_disks: u8,
    pub restores: u8,
    /// A standby has lacked something for longer than it may.
    pub lags: u8,
    /// The other machine is switched off, and a person says so: `promote --force`.
    pub forces: u8,
    /// The same is said at the active machine while the other one runs.
    pub wrong_words: u8,
    /// An attempt begins and is under way until something ends it.
    pub attempts: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 1,
            leaps: 2,
            questions: 3,
            handovers: 0,
            crashes: 0,
            lost_disks: 0,
            restores: 0,
            lags: 0,
            forces: 0,
            wrong_words: 0,
            attempts: 0,
        }
    }
}
