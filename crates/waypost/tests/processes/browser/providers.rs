//! Adding a provider, trying it, correcting it.

use super::{Scripts, World, with_and_without_script};
use domain::{ProviderId, TenantId};
use simulator::http::HttpRule;
use store::Directory;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

async fn a_provider_is_added_tested_and_corrected(scripts: Scripts) {
    let world = World::start().await;
    let browser = world.signed_in(scripts).await;
    browser.open("/providers").await;
    browser.click("a[href='/providers/new']").await;
    browser.click("#kinds a[data-kind=webhook]").await;
    browser.fill("[name=name]", "Night shift").await;
    browser.fill("[name=id]", "night").await;
    browser.fill("[name='settings.url']", "not a url").await;
    browser.fill("[name='settings.secret']", SECRET).await;
    browser.click("#save").await;
    browser.shows("#wrong", "Nothing was saved").await;
    browser.shows("[data-field='settings.url'] .error", "").await;
    let id = ProviderId::new("night");
    assert!(
        world
            .store
            .provider(TenantId::DEFAULT, &id)
            .await
            .unwrap()
            .is_none()
    );

    browser
        .fill("[name='settings.url']", &world.hook.url("/night"))
        .await;
    browser.fill("[name='settings.secret']", SECRET).await;
    browser.click("#save").await;
    browser.is_at("/providers/night").await;
    browser.shows("h1", "Night shift").await;
    let kept = world
        .store
        .provider(TenantId::DEFAULT, &id)
        .await
        .unwrap()
        .unwrap();
    let kept = kept.provider;
    assert_eq!(kept.settings["url"], world.hook.url("/•••"));
    assert_eq!(kept.secrets.len(), 2);
    assert!(!format!("{kept:?}").contains(SECRET), "sealed in the store");
    assert!(!browser.source().await.contains(SECRET), "never shown");

    world
        .hook
        .on(HttpRule::status(503).body("closed for the night").path("/night"));
    browser.click("#send-test").await;
    browser.shows("#tested", "It did not work").await;
    browser.shows("#tested", "closed for the night").await;
    world.hook.behave();
    browser.click("#send-test").await;
    browser.shows("#tested", "It works.").await;
    browser.shows("#transcript", "POST •••").await;
    let place = browser.place().await;
    assert!(place.starts_with("/providers/night/tests/"), "{place}");
    browser.open(&place).await;
    browser.shows("#tested", "It works.").await;
    assert_eq!(world.hook.counts().taken, 1, "looking again sends nothing");

    browser.click("#edit").await;
    browser.fill("[name=name]", "Late shift").await;
    browser.click("#save").await;
    browser.shows("h1", "Late shift").await;
    let changed = world
        .store
        .provider(TenantId::DEFAULT, &id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(changed.provider.name, "Late shift");
    assert_eq!(
        changed.provider.secrets.len(),
        2,
        "an empty secret field keeps the secret"
    );
}

with_and_without_script!(a_provider_is_added_tested_and_corrected);
