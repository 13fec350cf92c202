//! A real SQLite store in a folder that goes away with it.

use domain::{Clock, ManualClock};
use std::sync::Arc;
use store::{Store, sqlite::SqliteStore};
use tempfile::TempDir;

/// Keeps the folder alive as long as the store is in use.
#[derive(Debug)]
pub struct TempStore {
    pub store: Arc<dyn Store>,
    pub clock: Arc<ManualClock>,
    pub folder: TempDir,
}

impl TempStore {
    /// A fresh store on a clock that stands still until it is moved.
    pub fn open() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let clock = Arc::new(ManualClock::default());
        let ticking: Arc<dyn Clock> = clock.clone();
        let store = SqliteStore::open(&folder.path().join("waypost.db"), ticking).expect("a fresh store");
        Self {
            store: Arc::new(store),
            clock,
            folder,
        }
    }
}
