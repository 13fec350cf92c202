//! Far ends as processes of their own, so that they have their own threads, as in real life.

use anyhow::Context;
use std::process::Stdio;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// The receiver that bodies are posted to.
#[derive(Debug)]
pub struct Sink {
    pub url: String,
    process: Option<Child>,
}

impl Sink {
    /// The one named by `SINK_URL`, or one that is started for us.
    pub async fn start() -> anyhow::Result<Self> {
        if let Ok(url) = std::env::var("SINK_URL") {
            let url = format!("{}/hook", url.trim_end_matches('/'));
            return Ok(Self { url, process: None });
        }
        let mut process = Command::new(std::env::current_exe()?)
            .args(["bench", "sink"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the receiver")?;
        let output = process.stdout.take().context("the receiver has no output")?;
        let first = BufReader::new(output).lines().next_line().await?;
        let base = first.context("the receiver did not say where it listens")?;
        Ok(Self {
            url: format!("{base}/hook"),
            process: Some(process),
        })
    }

    pub async fn stop(mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill().await;
        }
    }
}
