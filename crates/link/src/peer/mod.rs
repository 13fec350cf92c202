//! Between the two machines of a site: each asks the other, and answers it.
//!
//! Leaves to others: who is active and what is copied (`domain::pair`), rows (`store`), when to ask (`site`).
//! Always true: nothing is said before both have proved that they hold the site's key, and the key itself is never said;
//! every answer has a bound in size and every question one in time.

mod client;
mod proof;
mod send;
mod send_wire;
mod server;
mod strangers;
mod wire;

pub use client::{PeerOptions, PeerSession, connect};
pub use proof::digest;
pub use send::{FarEndRefusal, NotSent, SendAnswered, SendAsked, SendRefused, SendTaken};
pub use server::{listen, serve};

use async_trait::async_trait;
use domain::pair::{Changes, Copied, Node, Rank, Relief, Row, Table, Value};
use std::{collections::BTreeMap, time::Duration};
use uuid::Uuid;

/// What these two speak; see the rules in `link.proto` for when it goes up.
const PROTOCOL: u32 = 2;
/// The largest answer.
const MESSAGE_BYTES: usize = 16 << 20;
/// How long an active waits for something to happen before it says that nothing has.
pub const FOLLOW_WAIT: Duration = Duration::from_secs(1);
/// Whoever follows asks again within this, however little happens.
pub const FOLLOWED_WITHIN: Duration = FOLLOW_WAIT.saturating_mul(2);

/// What a machine says about itself, besides where it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    pub name: String,
    pub version: String,
    /// The newest rows it understands.
    pub schema: u32,
    /// Its systems and connections, each with a digest of its settings.
    pub targets: BTreeMap<String, Vec<u8>>,
}

/// Rows that a machine hands in which was active as well.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandIn {
    /// Messages that only it has.
    pub messages: Vec<Row>,
    /// What is tracked of calls and writes that have ended there.
    pub ended: Vec<Row>,
    /// News for central that it has not heard.
    pub news: Vec<Row>,
}

/// What became of messages that were handed in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TakenIn {
    pub taken: u64,
    pub known: u64,
    pub unreadable: u64,
}

/// A machine, as the other may ask it. Errors are words for the other's log.
#[async_trait]
pub trait PeerHost: Send + Sync + 'static {
    fn about(&self) -> About;

    async fn node(&self) -> Result<Node, String>;

    /// The other has shown itself. An error refuses it.
    async fn met(&self, about: About, other: Node) -> Result<(), String>;

    /// The other, which has shown itself before, asks whatever follows. An error refuses that, and nothing of it is done.
    async fn asks(&self) -> Result<(), String>;

    /// What changed after this place, which the other has on its disk; none where the log does not go back so far.
    async fn changes(&self, other: Uuid, after: i64) -> Result<Option<Changes>, String>;

    /// The same for a whole copy, whose file is not in place yet: nothing of it counts as being on the other's disk.
    async fn changes_beside(&self, after: i64) -> Result<Option<Changes>, String>;

    async fn copy(&self, table: Table, after: Option<Value>) -> Result<Copied, String>;

    /// What only the other has.
    async fn hand_in(&self, handed: HandIn) -> Result<TakenIn, String>;

    /// The other is about to take over. When this is answered, it may: nothing is sent from here any more, and that is so
    /// after a crash as well.
    async fn step_down(&self) -> Result<Node, String>;

    /// The other asks this one to take over: because somebody said so, or because of its own trouble, which this one must not have.
    async fn take_over(&self, why: Option<Relief>) -> Result<Node, String>;

    /// The other is active, in this turn, and asks this one not to take over for a while: for how long that is promised.
    async fn promise(&self, turn: Rank, lease: Duration) -> Result<Duration, String>;

    /// The other, which is the standby, was sent this message: it is taken in here as if it had been sent here.
    async fn send(&self, message: SendAsked) -> Result<SendAnswered, NotSent>;
}
