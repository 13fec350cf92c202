//! The demo, as a stranger meets it: one command, one link, and there is something to see.

use super::{Browser, Scripts};
use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demos_link_leads_into_a_console_that_has_something_to_show() {
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_waypost"))
        .args(["demo", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        // It is killed at the end, and its folder goes with ours.
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut demo = Demo(child);
    // Kept open to the end: who writes to nobody is stopped.
    let mut output = BufReader::new(demo.0.stdout.take().unwrap()).lines();
    let link = output
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| {
            Some(line[line.find("http://")?..].to_owned()).filter(|l| l.contains("/sign-in/link/"))
        })
        .expect("the demo prints a link");
    let (base, token) = link.split_once("/sign-in/link/").unwrap();
    let browser = Browser::start(folder.path(), base, Scripts::On).await;
    browser.open(&format!("/sign-in/link/{token}")).await;
    browser.click("#sign-in-link button").await;
    browser.is_at("/").await;
    for provider in ["mail", "flaky", "strict"] {
        browser.shows("#lanes", provider).await;
    }
    browser.shows("#sites", "plant-north").await;
    browser.open("/notifications").await;
    browser.shows("#notifications", "Delivered").await;
}
