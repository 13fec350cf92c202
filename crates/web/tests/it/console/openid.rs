//! Signing in through an identity provider that speaks real HTTP.

use super::visitor::{Visitor, location};
use crate::world::{OTHER, World};
use axum::http::StatusCode;
use central::users::UserDraft;
use domain::{Actor, TenantId};
use serde_json::json;
use std::sync::Arc;
use store::directory::Role;
use testkit::identity::{CLIENT_ID, CLIENT_SECRET, Fault, IdentityProvider};
use web::{
    WebState,
    console::{
        ConsoleSettings,
        oidc::{Oidc, OidcSettings, RoleRule},
    },
};

const PUBLIC: &str = "https://waypost.example";

struct Organisation {
    world: World,
    provider: IdentityProvider,
    router: axum::Router,
    http: reqwest::Client,
}

impl Organisation {
    /// Admins of the group `engineers` here, viewers from the group `night` in the other tenant.
    async fn new() -> Self {
        let world = World::new().await;
        let provider = IdentityProvider::start().await;
        let rule = |value: &str, role, tenant: &str| RoleRule {
            value: value.into(),
            role,
            tenant: tenant.into(),
        };
        let settings = OidcSettings {
            issuer: provider.issuer().to_owned(),
            client_id: CLIENT_ID.into(),
            client_secret: CLIENT_SECRET.into(),
            public_url: PUBLIC.into(),
            role_claim: "groups".into(),
            roles: vec![
                rule("engineers", Role::Admin, "default"),
                rule("night", Role::Viewer, OTHER),
            ],
        };
        let settings = ConsoleSettings {
            oidc: Some(Arc::new(Oidc::new(settings).unwrap())),
            ..ConsoleSettings::default()
        };
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            router: web::router(WebState::new(world.central.clone()).with_console(settings)),
            world,
            provider,
            http,
        }
    }

    fn visitor(&self) -> Visitor {
        Visitor::stranger(&self.router)
    }

    /// Asks to sign in, lets the provider answer, and comes back to this path.
    async fn to_provider_and_back(&self, visitor: &mut Visitor) -> String {
        let answer = visitor.get("/sign-in/openid?next=%2Flists").await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        let answer = self.http.get(location(&answer)).send().await.unwrap();
        let back = answer.headers()["location"].to_str().unwrap();
        back.strip_prefix(PUBLIC).unwrap().to_owned()
    }

    /// Where the whole journey ends.
    async fn sign_in(&self, visitor: &mut Visitor) -> String {
        let back = self.to_provider_and_back(visitor).await;
        location(&visitor.get(&back).await).to_owned()
    }
}

#[tokio::test]
async fn who_has_a_role_by_the_providers_claims_is_let_in_with_it() {
    let there = Organisation::new().await;
    there
        .provider
        .person(json!({"sub": "7", "preferred_username": "ann", "groups": ["engineers", "night"]}));
    let mut visitor = there.visitor();
    assert_eq!(there.sign_in(&mut visitor).await, "/lists");
    assert_eq!(visitor.get("/lists").await.status, StatusCode::OK);
    let user = there.world.temp.store.user_by_name("ann").await.unwrap().unwrap();
    let other = there
        .world
        .temp
        .store
        .tenant_by_name(OTHER)
        .await
        .unwrap()
        .unwrap()
        .id;
    assert_eq!(
        user.roles,
        [(TenantId::DEFAULT, Role::Admin), (other, Role::Viewer)]
    );
    // At the next sign-in the claims count anew, for the same person under any name.
    there
        .provider
        .person(json!({"sub": "7", "preferred_username": "ann.married", "groups": "night"}));
    assert_eq!(there.sign_in(&mut there.visitor()).await, "/lists");
    let user = there.world.temp.store.user(user.id).await.unwrap().unwrap();
    assert_eq!(user.roles, [(other, Role::Viewer)]);
}

#[tokio::test]
async fn who_has_no_role_by_the_claims_is_not_let_in() {
    let there = Organisation::new().await;
    there
        .provider
        .person(json!({"sub": "8", "preferred_username": "eve", "groups": ["guests"]}));
    let mut visitor = there.visitor();
    assert_eq!(there.sign_in(&mut visitor).await, "/sign-in");
    assert!(visitor.get("/sign-in").await.text.contains("no role"));
    assert!(
        there
            .world
            .temp
            .store
            .user_by_name("eve")
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_name_that_belongs_to_somebody_else_is_not_taken_over() {
    let there = Organisation::new().await;
    let draft = UserDraft {
        name: "ann".into(),
        password: None,
        tenant: TenantId::DEFAULT,
        role: Role::Viewer,
    };
    let known = there
        .world
        .central
        .users
        .create(draft, &Actor::system())
        .await
        .unwrap();
    there
        .provider
        .person(json!({"sub": "9", "preferred_username": "ann", "groups": "engineers"}));
    assert_eq!(there.sign_in(&mut there.visitor()).await, "/sign-in");
    let now = there.world.temp.store.user(known.id).await.unwrap().unwrap();
    assert_eq!(now, known);
}

#[tokio::test]
async fn a_token_that_is_wrong_in_any_way_lets_nobody_in() {
    let there = Organisation::new().await;
    there
        .provider
        .person(json!({"sub": "7", "preferred_username": "ann", "groups": "engineers"}));
    for fault in [
        Fault::Forged,
        Fault::Audience,
        Fault::Issuer,
        Fault::Nonce,
        Fault::Expired,
        Fault::Missing,
        Fault::Denied,
    ] {
        there.provider.misbehave(Some(fault));
        let mut visitor = there.visitor();
        assert_eq!(there.sign_in(&mut visitor).await, "/sign-in", "{fault:?}");
        assert_eq!(visitor.get("/").await.status, StatusCode::SEE_OTHER, "{fault:?}");
    }
    assert!(
        there
            .world
            .temp
            .store
            .user_by_name("ann")
            .await
            .unwrap()
            .is_none()
    );
    there.provider.misbehave(None);
    assert_eq!(there.sign_in(&mut there.visitor()).await, "/lists");
}

#[tokio::test]
async fn an_answer_for_another_browser_or_a_used_one_is_refused() {
    let there = Organisation::new().await;
    there
        .provider
        .person(json!({"sub": "7", "preferred_username": "ann", "groups": "engineers"}));
    let mut asked = there.visitor();
    let back = there.to_provider_and_back(&mut asked).await;
    let mut another = there.visitor();
    there.to_provider_and_back(&mut another).await;
    assert_eq!(location(&another.get(&back).await), "/sign-in");
    assert_eq!(location(&there.visitor().get(&back).await), "/sign-in");
    let mut again = asked.clone();
    assert_eq!(location(&asked.get(&back).await), "/lists");
    assert_eq!(location(&again.get(&back).await), "/sign-in");
}

#[tokio::test]
async fn a_provider_that_does_not_answer_is_said_in_words() {
    let there = Organisation::new().await;
    let settings = OidcSettings {
        issuer: "http://127.0.0.1:1".into(),
        client_id: CLIENT_ID.into(),
        client_secret: CLIENT_SECRET.into(),
        public_url: PUBLIC.into(),
        role_claim: "groups".into(),
        roles: vec![],
    };
    let settings = ConsoleSettings {
        oidc: Some(Arc::new(Oidc::new(settings).unwrap())),
        ..ConsoleSettings::default()
    };
    let router = web::router(WebState::new(there.world.central.clone()).with_console(settings));
    let mut visitor = Visitor::stranger(&router);
    let answer = visitor.get("/sign-in/openid").await;
    assert_eq!(location(&answer), "/sign-in");
    assert!(
        visitor
            .get("/sign-in")
            .await
            .text
            .contains("cannot be used just now")
    );
}
