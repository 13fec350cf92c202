//! What runs in the background: how it is run, what becomes of it when it panics, and one place to see all of it.
//!
//! A [`Loop`] says its name, its interval, what wakes it and what one sweep does; [`Loops::start`] does the rest. An
//! event pump that cannot be cut into sweeps is a part ([`Loops::watch`]).
//! Leaves to others: showing the reports (`web`, the site's API, the metrics), ending the process.
//! Always true: a loop that panics is counted, shown and started again; a part that panics, or ends before it was told
//! to, is logged, and [`Loops::ended`] says so from then on. Whoever runs the process then ends it: a part that is gone
//! unseen would look like health.

mod part;
mod report;
mod run;
mod work;

pub use report::{LoopReport, Run, Worked};
pub use run::{About, Loop, Swept};
pub use work::{Count, Work};

use domain::{Clock, SystemClock};
use report::Seen;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

/// Everything that runs in the background of a node, an agent or a store. Clones tell of the same.
#[derive(Clone)]
pub struct Loops(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    seen: Mutex<Seen>,
    /// The first part that is gone, and how it went.
    ended: watch::Sender<Option<Arc<str>>>,
}

impl Default for Loops {
    fn default() -> Self {
        Self::new(Arc::new(SystemClock))
    }
}

impl Loops {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner {
            clock,
            seen: Mutex::default(),
            ended: watch::Sender::new(None),
        }))
    }
}

impl std::fmt::Debug for Loops {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Loops")
    }
}
