//! What every workload is given: where to measure, how much, and the far end that takes bodies.

use super::{
    database::{Database, Location, fresh_folder},
    far_end::Sink,
    wiring::Wiring,
};
use indicatif::ProgressBar;
use std::{path::PathBuf, time::Duration};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// How much is measured, and where files go.
#[derive(Debug, Clone)]
pub struct Scale {
    /// How long an enqueue runs.
    pub run_for: Duration,
    /// Messages of a drain.
    pub rows: u64,
    /// Finished rows for growth.
    pub kept: Vec<u64>,
    /// How long a reader keeps its transaction open.
    pub hold: Duration,
    /// Where files are made; the system's temporary folder if there is none.
    pub folder: Option<PathBuf>,
}

pub struct Bench {
    pub database: Database,
    pub scale: Scale,
    pub wiring: &'static dyn Wiring,
    sink: OnceCell<Sink>,
    spinner: ProgressBar,
}

impl Bench {
    pub async fn new(database: Database, scale: Scale, wiring: &'static dyn Wiring) -> anyhow::Result<Self> {
        let spinner = ProgressBar::new_spinner();
        spinner.enable_steady_tick(Duration::from_millis(250));
        Ok(Self {
            database,
            scale,
            wiring,
            sink: OnceCell::new(),
            spinner,
        })
    }

    /// What is going on, for whoever watches.
    pub fn say(&self, what: String) {
        self.spinner.set_message(what);
    }

    /// A new, empty place to measure in.
    pub async fn fresh(&self) -> anyhow::Result<Location> {
        self.database.fresh().await
    }

    /// A new folder for files of another part than the database.
    pub fn folder(&self) -> std::io::Result<TempDir> {
        fresh_folder(self.scale.folder.as_deref())
    }

    /// The receiver that bodies are posted to: a process of its own, as any far end is.
    pub async fn sink(&self) -> anyhow::Result<&Sink> {
        self.sink.get_or_try_init(Sink::start).await
    }

    pub async fn close(self) {
        self.spinner.finish_and_clear();
        if let Some(sink) = self.sink.into_inner() {
            sink.stop().await;
        }
    }
}
