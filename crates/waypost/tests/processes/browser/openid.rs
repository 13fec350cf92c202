//! Signing in through an identity provider, as a browser does it.

use super::{Scripts, World, with_and_without_script};
use domain::TenantId;
use serde_json::json;
use store::{Users, directory::Role};
use testkit::identity::{CLIENT_ID, CLIENT_SECRET, Fault, IdentityProvider};

async fn the_organisations_people_sign_in_and_others_do_not(scripts: Scripts) {
    let provider = IdentityProvider::start().await;
    provider.person(json!({"sub": "7", "preferred_username": "cleo", "roles": ["operators"]}));
    // The provider sends people back to a fixed address, so the node needs one that is known beforehand.
    let port = testkit::ports::an_address();
    let public = format!("http://{port}");
    let world = World::start_with(&[
        ("WAYPOST_SERVER__LISTEN", &port.to_string()),
        ("WAYPOST_SERVER__PUBLIC_URL", &public),
        ("WAYPOST_SERVER__OIDC_ISSUER", provider.issuer()),
        ("WAYPOST_SERVER__OIDC_CLIENT_ID", CLIENT_ID),
        ("WAYPOST_SERVER__OIDC_CLIENT_SECRET", CLIENT_SECRET),
        ("WAYPOST_SERVER__OIDC_ROLES", "operators=operator"),
    ])
    .await;
    let browser = world.browser(scripts).await;
    provider.misbehave(Some(Fault::Forged));
    browser.open("/lists").await;
    browser.click("#openid").await;
    browser.shows("#flash", "cannot be used just now").await;
    provider.misbehave(None);
    browser.open("/lists").await;
    browser.click("#openid").await;
    browser.is_at("/lists").await;
    browser.shows(".who summary", "cleo").await;
    let user = world.store.user_by_name("cleo").await.unwrap().unwrap();
    assert_eq!(user.roles, [(TenantId::DEFAULT, Role::Operator)]);
}

with_and_without_script!(the_organisations_people_sign_in_and_others_do_not);
