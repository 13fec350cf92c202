//! A `waypost serve` in a process of its own.

use client::Client;
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

pub const KEY: &str = "wp_test_bootstrap_key_0123456789abcdef";
/// 32 bytes in base64: every node of a test opens the others' secrets.
const SECRETS_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

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
            lease: "2s",
            env: vec![],
        }
    }
}

/// Killed when dropped.
pub struct Node {
    child: Child,
    pub client: Client,
    /// Where sites connect.
    pub link: std::net::SocketAddr,
    pub log: PathBuf,
}

impl Node {
    /// Starts the process and waits until it is ready.
    pub async fn start(setup: &Setup) -> Self {
        let port_file = setup.folder.join(format!("{}.port", setup.name));
        let _ = std::fs::remove_file(&port_file);
        let link_file = setup.folder.join(format!("{}.link-port", setup.name));
        let _ = std::fs::remove_file(&link_file);
        let log = setup.folder.join(format!("{}.log", setup.name));
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_waypost"))
            .arg("serve")
            .arg("--port-file")
            .arg(&port_file)
            .arg("--link-port-file")
            .arg(&link_file)
            .current_dir(&setup.folder)
            .env_remove("WAYPOST_CONFIG")
            .env("WAYPOST_SERVER__LISTEN", "127.0.0.1:0")
            .env("WAYPOST_SERVER__LINK_LISTEN", "127.0.0.1:0")
            .env("WAYPOST_SERVER__BOOTSTRAP_KEY", KEY)
            .env("WAYPOST_DATABASE__URL", &setup.database)
            .env("WAYPOST_SECRETS__KEY", SECRETS_KEY)
            .env("WAYPOST_DELIVERY__ALLOW_ADDRESSES", r#"["127.0.0.0/8"]"#)
            .env("WAYPOST_OUTBOX__LEASE", setup.lease)
            .env("WAYPOST_OUTBOX__DISPATCH_INTERVAL", "500ms")
            .envs(setup.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let mut node = Self {
            child,
            client: Client::new("http://127.0.0.1:1", KEY).unwrap(),
            link: ([127, 0, 0, 1], 1).into(),
            log,
        };
        let address = node
            .until(Duration::from_secs(60), "a port", || read_port(&port_file))
            .await;
        node.client = Client::new(&format!("http://{address}"), KEY).unwrap();
        let link = node
            .until(Duration::from_secs(60), "a port for sites", || {
                read_port(&link_file)
            })
            .await;
        node.link = link.parse().unwrap();
        node.wait_ready().await;
        node
    }

    pub async fn wait_ready(&self) {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        while !self.client.readyz().await.is_ok_and(|r| r.ready) {
            assert!(
                tokio::time::Instant::now() < deadline,
                "not ready; log:\n{}",
                self.log_tail()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn until<T>(&mut self, limit: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!(
                    "the node ended with {status} before it gave {what}; log:\n{}",
                    self.log_tail()
                );
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "no {what}; log:\n{}",
                self.log_tail()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    /// SIGKILL: no chance to put anything in order.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    #[cfg(feature = "postgres-tests")]
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    #[cfg(any(feature = "postgres-tests", feature = "browser-tests"))]
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// SIGTERM, and the exit code that follows.
    pub async fn stop(mut self) -> i32 {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .arg("-TERM")
                .arg(id)
                .status()
                .unwrap()
                .success()
        );
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "did not stop; log:\n{}",
                self.log_tail()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_port(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let address = text.trim().trim_start_matches("http://");
    (!address.is_empty()).then(|| address.to_owned())
}
