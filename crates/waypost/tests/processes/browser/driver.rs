//! The program that drives a Chromium, and the end of both.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The program that drives Chromium. Dropped, it and its Chromium are gone, and nobody writes to their folder any more.
pub struct DriverProcess {
    child: Child,
    /// Where its Chromium keeps everything; in the environment of all its processes.
    profile: PathBuf,
}

/// By this its processes are told from others.
const PROFILE: &str = "WAYPOST_TEST_PROFILE";

impl DriverProcess {
    /// It takes a port that is free for one address family and gives up when another one has it for the other, which
    /// happens when several start at once.
    pub fn start(profile: &Path) -> (Self, String) {
        (0..20)
            .find_map(|_| Self::try_start(profile))
            .expect("chromedriver says where it listens")
    }

    fn try_start(profile: &Path) -> Option<(Self, String)> {
        let child = Command::new("chromedriver")
            .arg("--port=0")
            // Chromium leaves folders there that nobody removes; these go with the test's own.
            .env("TMPDIR", profile)
            .env(PROFILE, profile)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut process = Self {
            child: child.expect("chromedriver is needed; scripts/test installs it"),
            profile: profile.to_owned(),
        };
        let output = BufReader::new(process.child.stdout.take().unwrap());
        let port = output.lines().map_while(Result::ok).find_map(|line| {
            let (_, after) = line.split_once("started successfully on port ")?;
            after.trim_end_matches('.').parse::<u16>().ok()
        })?;
        Some((process, format!("http://127.0.0.1:{port}")))
    }
}

impl DriverProcess {
    /// What of its Chromium is still there. Most of its processes write their name over their environment, and have the
    /// folder among their arguments instead.
    fn left(&self) -> Vec<String> {
        let mark = format!("{PROFILE}={}\0", self.profile.display());
        let folder = format!("--user-data-dir={}", self.profile.display());
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ours = all.filter(|process| {
            let says = |file: &str, what: &str| {
                let text = std::fs::read(process.path().join(file)).unwrap_or_default();
                text.windows(what.len()).any(|part| part == what.as_bytes())
            };
            says("environ", &mark) || says("cmdline", &folder)
        });
        ours.map(|process| process.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

impl Drop for DriverProcess {
    fn drop(&mut self) {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status();
        if !asked.is_ok_and(|status| status.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        // It does not wait for its Chromium, which would put files into a folder that is being removed.
        // A look takes some milliseconds.
        for _ in 0..1_000 {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            let _ = Command::new("kill")
                .arg("-KILL")
                .args(left)
                .stderr(Stdio::null())
                .status();
        }
    }
}
