//! A `waypost site` in a process of its own.

use client::{Again, site::Site};
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

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
    child: Child,
    pub site: Site,
    pub log: PathBuf,
}

impl AgentProcess {
    /// Starts the process and waits until it answers.
    pub async fn start(setup: &SiteSetup) -> Self {
        let port_file = setup.folder.join(format!("{}.site-port", setup.id));
        let _ = std::fs::remove_file(&port_file);
        let log = setup.folder.join(format!("{}.site-log", setup.id));
        let config = setup.folder.join(format!("{}.toml", setup.id));
        let database = setup.folder.join(format!("{}.db", setup.id));
        let text = format!(
            "[site]\nid = {:?}\ncentral = [{:?}]\nkey = {:?}\nlisten = \"127.0.0.1:0\"\ndatabase = {:?}\n\
             default_retry_interval = \"1s\"\nretry_timer_interval = \"100ms\"\n{}\n",
            setup.id, setup.central, setup.key, database, setup.more
        );
        std::fs::write(&config, text).unwrap();
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_waypost"))
            .args(["site", "--port-file"])
            .arg(&port_file)
            .arg("--config")
            .arg(&config)
            .current_dir(&setup.folder)
            .env_remove("WAYPOST_CONFIG")
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let mut agent = Self {
            child,
            site: Site::new("http://127.0.0.1:1", "").unwrap(),
            log,
        };
        let address = agent.address(&port_file).await;
        agent.site = one_try(&format!("http://{address}"));
        agent
    }

    async fn address(&mut self, port_file: &Path) -> String {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        loop {
            if let Ok(text) = std::fs::read_to_string(port_file) {
                return text.trim().to_owned();
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the agent ended with {status}; log:\n{}", self.log_tail());
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "no port; log:\n{}",
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

    /// SIGTERM, and the exit code that follows.
    pub async fn stop(mut self) -> i32 {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").arg("-TERM").arg(id).status().unwrap();
        assert!(asked.success());
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

    /// Waits until it has ended by itself; its exit code.
    pub async fn ended(mut self) -> i32 {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "it goes on; log:\n{}",
                self.log_tail()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until nothing waits in the buffer any more.
    pub async fn drained(&self) {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(180);
        loop {
            if let Ok(health) = self.site.health().await {
                if health.waiting == 0 {
                    return;
                }
                assert!(
                    tokio::time::Instant::now() < deadline,
                    "{} still wait; log:\n{}",
                    health.waiting,
                    self.log_tail()
                );
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
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

impl Drop for AgentProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
