//! A `waypost serve` in a process of its own.

use crate::process::Process;
use client::Client;
use std::path::{Path, PathBuf};
use testkit::seen_in_time;

pub const KEY: &str = "wp_test_bootstrap_key_0123456789abcdef";
/// 32 bytes in base64: every node of a test opens the others' secrets.
pub const SECRETS_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// How a node is started.
#[derive(Debug, Clone)]
pub struct Setup {
    pub name: String,
    pub folder: PathBuf,
    pub database: String,
    pub lease: &'static str,
    /// Further settings, as environment variables.
    pub env: Vec<(String, String)>,
}

impl Setup {
    pub fn sqlite(folder: &Path) -> Self {
        let database = format!("sqlite://{}", folder.join("waypost.db").display());
        Self {
            name: "node-1".into(),
            folder: folder.into(),
            database,
            lease: "2m",
            env: vec![],
        }
    }

    #[cfg(feature = "postgres-tests")]
    pub fn postgres(name: &str, folder: &Path, database: &str) -> Self {
        Self {
            name: name.into(),
            folder: folder.into(),
            database: database.into(),
            // Longer than a live node ever stands still: what it has under way would be sent again.
            lease: "20s",
            env: vec![],
        }
    }
}

/// Killed when dropped.
pub struct Node {
    process: Process,
    pub client: Client,
    /// Where sites connect.
    pub link: std::net::SocketAddr,
    pub log: PathBuf,
}

impl Node {
    /// Starts the process and waits until it is ready.
    pub async fn start(setup: &Setup) -> Self {
        Self::start_in(setup, &[]).await
    }

    /// The same by a command that becomes it.
    pub async fn start_in(setup: &Setup, inside: &[String]) -> Self {
        let port_file = setup.folder.join(format!("{}.port", setup.name));
        let _ = std::fs::remove_file(&port_file);
        let link_file = setup.folder.join(format!("{}.link-port", setup.name));
        let _ = std::fs::remove_file(&link_file);
        let log = setup.folder.join(format!("{}.log", setup.name));
        let mut process = Process::start(inside, &setup.folder, log.clone(), |command| {
            command
                .arg("serve")
                .arg("--port-file")
                .arg(&port_file)
                .arg("--link-port-file")
                .arg(&link_file)
                .env("WAYPOST_SERVER__LISTEN", "127.0.0.1:0")
                .env("WAYPOST_SERVER__LINK_LISTEN", "127.0.0.1:0")
                .env("WAYPOST_SERVER__BOOTSTRAP_KEY", KEY)
                .env("WAYPOST_DATABASE__URL", &setup.database)
                .env("WAYPOST_SECRETS__KEY", SECRETS_KEY)
                .env("WAYPOST_DELIVERY__ALLOW_ADDRESSES", r#"["127.0.0.0/8"]"#)
                .env("WAYPOST_OUTBOX__LEASE", setup.lease)
                .env("WAYPOST_OUTBOX__DISPATCH_INTERVAL", "500ms")
                .envs(setup.env.iter().map(|(name, value)| (name, value)));
        });
        let address = process.address(&port_file).await;
        let link = process.address(&link_file).await;
        let node = Self {
            process,
            client: Client::new(&format!("http://{address}"), KEY).unwrap(),
            link: link.parse().unwrap(),
            log,
        };
        node.wait_ready().await;
        node
    }

    pub async fn wait_ready(&self) {
        let ready = async || self.client.readyz().await.ok()?.ready.then_some(());
        let ready = seen_in_time(ready).await;
        assert!(ready.is_some(), "not ready; log:\n{}", self.log_tail());
    }

    pub fn log_tail(&self) -> String {
        self.process.log_tail()
    }

    pub fn kill(mut self) {
        self.process.kill();
    }

    #[cfg(feature = "postgres-tests")]
    pub fn is_running(&mut self) -> bool {
        self.process.is_running()
    }

    #[cfg(any(feature = "postgres-tests", feature = "browser-tests"))]
    pub fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// SIGTERM, and the exit code that follows.
    pub async fn stop(mut self) -> i32 {
        self.process.stop().await
    }
}
