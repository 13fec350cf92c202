//! Signing in and out.

use super::{
    Browser, Scripts, World,
    held_answer::HeldAnswer,
    with_and_without_script,
    world::{PASSWORD, USER},
};
use store::Users;

async fn a_password_lets_in_and_signing_out_ends_the_session(scripts: Scripts) {
    let world = World::start().await;
    let browser = world.browser(scripts).await;
    browser.open("/providers").await;
    browser.is_at("/sign-in?next=%2Fproviders").await;
    browser.fill("#name", USER).await;
    browser.fill("#password", "not the password").await;
    browser.click("#sign-in button").await;
    browser
        .shows("#wrong", "The name or the password is wrong.")
        .await;
    let user = world.store.user_by_name(USER).await.unwrap().unwrap();
    assert_eq!(user.last_sign_in_at, None);

    browser.fill("#password", PASSWORD).await;
    browser.click("#sign-in button").await;
    browser.is_at("/providers").await;
    browser.shows(".who summary", USER).await;
    let user = world.store.user_by_name(USER).await.unwrap().unwrap();
    assert!(user.last_sign_in_at.is_some());

    browser.click(".who summary").await;
    browser.click("#sign-out").await;
    browser.shows("#flash", "You are signed out.").await;
    browser.open("/providers").await;
    browser.is_at("/sign-in?next=%2Fproviders").await;
}

async fn a_link_signs_in_once(scripts: Scripts) {
    let world = World::start().await;
    let link = world.link(USER);
    let browser = world.browser(scripts).await;
    browser.open(&link).await;
    browser.click("#sign-in-link button").await;
    browser.is_at("/").await;
    let other = world.browser(scripts).await;
    other.open(&link).await;
    other.click("#sign-in-link button").await;
    other.shows("#flash", "This link was used before").await;
}

/// While the answer to a form is under way the page is still there, and what makes it live would be redirected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_updates_never_overtake_a_form_that_was_sent() {
    let world = World::start().await;
    let held = HeldAnswer::start(world.node.client.url(), "POST /sign-out").await;
    let browser = Browser::start(world.folder(), &held.url, Scripts::On).await;
    browser.open(&world.link(USER)).await;
    browser.click("#sign-in-link button").await;
    browser.is_at("/").await;

    // The refresh is what a live event brings; it is over when it has been redirected, or was not made at all.
    let script = "document.querySelector('#sign-out').click(); refresh().then(arguments[0], arguments[0]);";
    browser.run_async(script).await;
    held.is_answered().await;
    held.let_go();
    browser.shows("#flash", "You are signed out.").await;
}

with_and_without_script!(
    a_password_lets_in_and_signing_out_ends_the_session,
    a_link_signs_in_once
);
