//! The two machines of a site: one is active, the other keeps a copy and can take its place.
//!
//! In reading order: what a machine has lived through ([`history`]), what is copied ([`change`], [`row`]), what follows when the
//! two meet ([`meeting`]), which of them may attempt what both know ([`lease`], [`witness`]), when an
//! active one hands over by itself ([`relief`]), and what a standby does that
//! somebody sends something to ([`sending`]).
//!
//! Leaves to others: the file (`store::buffer`), the wire (`link::peer`), when to ask (`site::pair`).
//! Always true: nothing here reads a clock or a socket; of two that both say they are active, both come to the same
//! answer about who stays it.

pub mod change;
pub mod history;
pub mod lease;
pub mod meeting;
pub mod relief;
pub mod row;
pub mod sending;
pub mod witness;

pub use change::{Changes, Copied, Table};
pub use history::{Epoch, Fork, HIGHEST_COUNTER, History};
pub use lease::{Follower, Giver, Held, Leases, NoPromise, Terms};
pub use meeting::{Meeting, Node, Plan};
pub use relief::{Plight, Relief, ReliefTerms, Reliever};
pub use row::{Row, RowValue, Value};
pub use sending::{PassedOn, ThenStandby, after_passing_on};
pub use witness::{LeaseAnswer, LeaseAsk, NotGiven, Wanted, WitnessRow};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Of a turn: its counter and its id. The higher one is the later one.
pub type Rank = (u64, Uuid);

/// What a machine of a pair does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Takes messages in and sends them.
    Active,
    /// Keeps a copy and sends nothing.
    Standby,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Standby => "Standby",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a machine of a pair stands, as its file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub role: Role,
    pub history: History,
    /// The last change of the active that is in this file; of the active itself, where it became that.
    pub position: i64,
    /// The copy was whole when it was last brought up to date: nothing the active had was missing.
    pub caught_up: bool,
    /// The other machine may have attempted what is in this file, in a turn that this one has not seen: such calls and writes
    /// are left alone until the two have met.
    #[serde(default)]
    pub stale: bool,
    /// No other machine has anything of this file, or a person said that it does not run: no lease is needed.
    #[serde(default)]
    pub sole: bool,
    /// Of a standby whose file began empty: the id it had then, until an active one vouches for it. What this machine made before is
    /// in no file.
    #[serde(default)]
    pub joined: Option<Uuid>,
    /// Of an active one: central has confirmed its turn since the other machine joined under this id.
    #[serde(default)]
    pub vouches: Option<Uuid>,
}

impl Standing {
    /// Of a file that has never been part of a pair and holds nothing.
    pub fn empty() -> Self {
        Self {
            role: Role::Standby,
            history: History::default(),
            position: 0,
            caught_up: false,
            stale: false,
            sole: false,
            joined: None,
            vouches: None,
        }
    }
}
