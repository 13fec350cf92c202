//! A `waypost` in a process of its own, with a log that is shown when something does not come.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use testkit::seen_in_time;

/// Killed when dropped.
pub struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts it, `inside` a command that becomes it if one is given. What it says goes to the end of `log`.
    pub fn start(inside: &[String], folder: &Path, log: PathBuf, asked: impl FnOnce(&mut Command)) -> Self {
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let program = env!("CARGO_BIN_EXE_waypost");
        let mut command = match inside {
            [] => Command::new(program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        command
            .current_dir(folder)
            .env_remove("WAYPOST_CONFIG")
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file);
        asked(&mut command);
        let child = command.spawn().unwrap();
        Self { child, log }
    }

    /// The address it writes to a file once it listens.
    pub async fn address(&mut self, file: &Path) -> String {
        self.until("an address", async |process| {
            if let Some(status) = process.child.try_wait().unwrap() {
                panic!(
                    "it ended with {status} before it listened; log:\n{}",
                    process.log_tail()
                );
            }
            let text = std::fs::read_to_string(file).ok()?;
            let address = text.trim().trim_start_matches("http://");
            (!address.is_empty()).then(|| address.to_owned())
        })
        .await
    }

    /// Its exit code, once it has ended.
    pub async fn ended(&mut self) -> i32 {
        let ended = async |process: &mut Self| process.child.try_wait().unwrap();
        let status = self.until("its end", ended).await;
        status.code().unwrap_or(-1)
    }

    /// SIGTERM, and the exit code that follows.
    pub async fn stop(&mut self) -> i32 {
        self.signal("TERM");
        self.ended().await
    }

    /// SIGKILL: no chance to put anything in order.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(status.success());
    }

    #[cfg(feature = "postgres-tests")]
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    /// Looks until something is found. What does not come is told with the log.
    async fn until<T>(&mut self, what: &str, mut look: impl AsyncFnMut(&mut Self) -> Option<T>) -> T {
        match seen_in_time(async || look(self).await).await {
            Some(found) => found,
            None => panic!("waited for {what}; log:\n{}", self.log_tail()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
