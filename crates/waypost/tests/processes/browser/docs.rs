//! The page about the API, followed by somebody who has nothing else.

use super::{Scripts, World, with_and_without_script};
use std::process::Command;

/// What the shell makes of a command that was copied from the page.
fn run(command: &str, key: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("{command} --silent --show-error --fail-with-body")])
        .env("WAYPOST_API_KEY", key)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command}\n{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

async fn an_example_is_found_in_the_contents_copied_and_works(scripts: Scripts) {
    let world = World::start().await;
    let made = world.node.client.create_key("copied", "operator").await.unwrap();
    let key = made.key.expect("a new key is shown once");
    let browser = world.browser(scripts).await;
    browser.open("/docs").await;
    browser.click("nav a[href='#postApiNotifications']").await;
    let submit = browser.text("#postApiNotifications .example").await.unwrap();
    assert!(submit.contains(world.node.client.url()), "{submit}");
    browser
        .shows("#postApiNotifications", "at most 1000 characters")
        .await;
    browser
        .shows("#postApiNotifications .refusals", "validation_failed")
        .await;
    let said = run(&submit, &key);
    assert!(said.contains("\"duplicate\":false"), "{said}");
    // The example that asks finds what the one before handed in.
    let status = browser.text("#getApiNotificationsByIdStatus .example").await;
    let said = run(&status.unwrap(), &key);
    assert!(said.contains("\"status\""), "{said}");
    browser.click(".back a").await;
    browser.is_at("/sign-in").await;
}

with_and_without_script!(an_example_is_found_in_the_contents_copied_and_works);
