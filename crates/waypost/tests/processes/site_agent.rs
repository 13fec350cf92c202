//! A `waypost site` in a process of its own.

use crate::process::Process;
use client::{Again, site::Site};
use std::path::PathBuf;
use testkit::{ports::an_address, seen_in_time};

/// How an agent is started.
#[derive(Debug, Clone)]
pub struct SiteSetup {
    pub id: String,
    pub folder: PathBuf,
    /// Where central is, as the site reaches it.
    pub central: String,
    pub key: String,
    /// Further lines of its configuration.
    pub more: String,
}

/// Killed when dropped.
pub struct AgentProcess {
    process: Process,
    pub site: Site,
    pub log: PathBuf,
}

impl AgentProcess {
    /// Starts the process and waits until it answers.
    pub async fn start(setup: &SiteSetup) -> Self {
        // It may be started again at the same place.
        Self::start_at(setup, &an_address().to_string()).await
    }

    /// The same, where it is to listen.
    pub async fn start_at(setup: &SiteSetup, listen: &str) -> Self {
        Self::start_in(setup, listen, &[]).await
    }

    /// The same by a command that becomes it.
    pub async fn start_in(setup: &SiteSetup, listen: &str, inside: &[String]) -> Self {
        let port_file = setup.folder.join(format!("{}.site-port", setup.id));
        let _ = std::fs::remove_file(&port_file);
        let log = setup.folder.join(format!("{}.site-log", setup.id));
        let config = setup.folder.join(format!("{}.toml", setup.id));
        let database = setup.folder.join(format!("{}.db", setup.id));
        let text = format!(
            "[site]\nid = {:?}\ncentral = [{:?}]\nkey = {:?}\nlisten = {listen:?}\ndatabase = {:?}\n\
             default_retry_interval = \"1s\"\nretry_timer_interval = \"100ms\"\n{}\n",
            setup.id, setup.central, setup.key, database, setup.more
        );
        std::fs::write(&config, text).unwrap();
        let mut process = Process::start(inside, &setup.folder, log.clone(), |command| {
            command
                .args(["site", "--port-file"])
                .arg(&port_file)
                .arg("--config")
                .arg(&config);
        });
        let address = process.address(&port_file).await;
        Self {
            process,
            site: one_try(&format!("http://{address}")),
            log,
        }
    }

    pub fn listens_at(&self) -> String {
        let address = self.site.url().trim_start_matches("http://");
        address.trim_end_matches('/').to_owned()
    }

    pub fn log_tail(&self) -> String {
        self.process.log_tail()
    }

    pub fn kill(mut self) {
        self.process.kill();
    }

    /// As `kill` names it.
    pub fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// SIGTERM, and the exit code that follows.
    pub async fn stop(mut self) -> i32 {
        self.process.stop().await
    }

    /// Waits until it has ended by itself; its exit code.
    pub async fn ended(mut self) -> i32 {
        self.process.ended().await
    }

    /// Waits until nothing waits in the buffer any more.
    pub async fn drained(&self) {
        let empty = async || (self.site.health().await.ok()?.waiting == 0).then_some(());
        let drained = seen_in_time(empty).await;
        assert!(drained.is_some(), "some still wait; log:\n{}", self.log_tail());
    }
}

/// A sender that hears of every failure at once.
fn one_try(url: &str) -> Site {
    Site::builder(url)
        .retrying(Again::tries(1))
        .build()
        .unwrap()
        .into()
}
