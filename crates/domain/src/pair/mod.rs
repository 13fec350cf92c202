//! The two machines of a site: one is active, the other keeps a copy and can take its place.
//!
//! In reading order: what a machine has lived through ([`history`]), what is copied ([`change`]), and what follows when the
//! two meet ([`meeting`]).
//!
//! Leaves to others: the file (`store::buffer`), the wire (`link::peer`), when to ask (`site::pair`).
//! Always true: nothing here reads a clock or a socket; of two that both say they are active, both come to the same
//! answer about who stays it.

pub mod change;
pub mod history;
pub mod meeting;

pub use change::{Changes, Copied, Table, Value};
pub use history::{Epoch, Fork, History};
pub use meeting::{Meeting, Node, Plan};

use serde::{Deserialize, Serialize};

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
}

impl Standing {
    /// Of a file that has never been part of a pair and holds nothing.
    pub fn empty() -> Self {
        Self {
            role: Role::Standby,
            history: History::default(),
            position: 0,
            caught_up: false,
        }
    }
}
