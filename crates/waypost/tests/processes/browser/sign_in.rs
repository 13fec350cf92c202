//! Signing in and out.

use super::{
    Scripts, World, with_and_without_script,
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

with_and_without_script!(
    a_password_lets_in_and_signing_out_ends_the_session,
    a_link_signs_in_once
);
