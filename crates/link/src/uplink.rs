//! The seam: what a site sees of central, and what central may ask of a site.
//!
//! The gRPC client is one [`Uplink`]; tests write their own. `site` implements [`SiteCommands`].

use crate::bulk::{BulkDone, BulkStep, ParkedCount, ParkedFilter};
use crate::lease::NotHolder;
use crate::message::{
    Ack, Down, Forward, LinkState, ParkedActed, ParkedAnswer, ParkedPage, RemoteStatus, SiteReport,
};
use crate::waiting::{WaitingActed, WaitingAnswer, WaitingPage};
use async_trait::async_trait;
use domain::{NotificationId, pair::Rank, site::Telemetry};
use tokio::sync::watch;

/// Central, as a site sees it. Cheap to call concurrently: several batches may be under way at once, up to the
/// window of the link; a call beyond it waits for room.
#[async_trait]
pub trait Uplink: Send + Sync {
    /// Hands notifications over. One answer per item, in order; what is `Accepted` or `Duplicate` is on central's
    /// disk. `Down` means that nothing is known about any of them: sending them again is harmless.
    ///
    /// An item too large for the link is `Refused` alone, like any other that central will never take. A batch of
    /// any size may be given; some hundred items at a time keep the link busy.
    async fn submit(&self, batch: Vec<Forward>) -> Result<Vec<Ack>, Down>;

    /// Where a notification of this site stands at central; `None` when central has never seen it.
    async fn status(&self, id: NotificationId) -> Result<Option<RemoteStatus>, Down>;

    /// Tells what became of cached calls and writes. Per item, in order: whether central has it; `false` means
    /// not now. What was told twice is kept once, by site and telemetry id.
    async fn telemetry(&self, batch: Vec<Telemetry>) -> Result<Vec<bool>, Down>;

    /// Whether the link is up, since when, and to which database. Changes are seen at once.
    fn state(&self) -> watch::Receiver<LinkState>;
}

/// A site, as central may ask it. Answers come from the site's own buffer, at once; only an attempt takes its time.
#[async_trait]
pub trait SiteCommands: Send + Sync {
    /// Whether this machine is the one of its pair that is active in that turn: asked before every question that is meant for it.
    /// A site of one machine is always meant.
    fn holds(&self, _turn: Rank) -> Result<(), NotHolder> {
        Ok(())
    }

    /// A page of what is parked and matches, oldest first.
    async fn parked(&self, page: ParkedPage) -> Result<ParkedAnswer, String>;

    /// Sends a parked message round again. `id` is the message id or the tracked operation's, in either spelling;
    /// `by` is who asked, as central knows them (`user:anna`).
    async fn retry(&self, id: &str, by: &str) -> Result<ParkedActed, String>;

    /// Gives a parked message up, or one that waits for a target the site no longer has.
    async fn discard(&self, id: &str, by: &str) -> Result<ParkedActed, String>;

    /// A page of what waits, in the order of acceptance.
    async fn waiting(&self, page: WaitingPage) -> Result<WaitingAnswer, String>;

    /// Has a waiting message tried now. Answers when the attempt is over, or within
    /// [`TRY_ANSWER_WITHIN`](crate::TRY_ANSWER_WITHIN) that it goes on.
    async fn try_waiting(&self, id: &str, by: &str) -> Result<WaitingActed, String>;

    /// Gives up a message that waits.
    async fn discard_waiting(&self, id: &str, by: &str) -> Result<WaitingActed, String>;

    /// How many messages match, and up to which change.
    async fn count_parked(&self, filter: ParkedFilter) -> Result<ParkedCount, String>;

    /// Acts on the next few messages that match. The same step again gives the same answer and does nothing.
    async fn act_on_many(&self, step: BulkStep) -> Result<BulkDone, String>;

    /// How the site is doing. Also sent by itself every few seconds.
    async fn report(&self) -> SiteReport;
}
