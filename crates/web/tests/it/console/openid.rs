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
        oidc::{METADATA_LASTS, METADATA_REST, Oidc, OidcSettings, RoleRule},
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
            oidc: Some(Arc::new(
                Oidc::new(settings).unwrap().with_clock(world.temp.clock.clone()),
            )),
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
async fn who_loses_the_last_role_at_the_provider_loses_roles_and_sessions_here() {
    let there = Organisation::new().await;
    let ann = |groups: &str| json!({"sub": "7", "preferred_username": "ann", "groups": groups});
    there.provider.person(ann("engineers"));
    let mut visitor = there.visitor();
    assert_eq!(there.sign_in(&mut visitor).await, "/lists");
    there.provider.person(ann("guests"));
    assert_eq!(there.sign_in(&mut there.visitor()).await, "/sign-in");
    assert_eq!(visitor.get("/lists").await.status, StatusCode::SEE_OTHER);
    let store = &there.world.temp.store;
    let user = store.user_by_name("ann").await.unwrap().unwrap();
    assert_eq!(user.roles, []);
    // Nor does the old session come back with the role.
    store
        .set_role(user.id, TenantId::DEFAULT, Some(Role::Viewer), &Actor::system())
        .await
        .unwrap();
    assert_eq!(visitor.get("/lists").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn who_comes_through_the_provider_comes_no_other_way() {
    let there = Organisation::new().await;
    there
        .provider
        .person(json!({"sub": "7", "preferred_username": "ann", "groups": "engineers"}));
    let mut visitor = there.visitor();
    there.sign_in(&mut visitor).await;
    let page = visitor.get("/account").await;
    assert!(!page.text.contains("password-form"), "{}", page.text);
    visitor.learn_secret(&page);
    let new = [("new", "a long password"), ("again", "a long password")];
    let refused = visitor.post("/account/password", &new).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let store = &there.world.temp.store;
    let ann = store.user_by_name("ann").await.unwrap().unwrap();
    assert_eq!(ann.password, None);
    let admin = there.world.key(Role::Admin);
    let path = format!("/api/users/{}", ann.id);
    let given = Some(json!({"password": "a long password", "role": "viewer"}));
    let refused = there.world.ask("PUT", &path, &admin, given).await;
    assert_eq!(refused.bad_fields(), ["password"]);
    let refused = there
        .world
        .ask("POST", &format!("{path}/link"), &admin, None)
        .await;
    assert_eq!(refused.bad_fields(), ["link"]);
    // One that an earlier version let them set opens nothing.
    let hash = central::users::password::hash("a long password").await.unwrap();
    store.set_password(ann.id, &hash, &Actor::system()).await.unwrap();
    let signed_in = there
        .world
        .central
        .users
        .sign_in("ann", "a long password", None)
        .await;
    assert!(signed_in.is_err());
}

#[tokio::test]
async fn a_key_the_provider_has_just_made_counts_at_once_and_one_it_withdrew_not_for_long() {
    let there = Organisation::new().await;
    let clock = &there.world.temp.clock;
    there
        .provider
        .person(json!({"sub": "7", "preferred_username": "ann", "groups": "engineers"}));
    assert_eq!(there.sign_in(&mut there.visitor()).await, "/lists");
    there.provider.rotate();
    clock.advance(METADATA_REST);
    assert_eq!(there.sign_in(&mut there.visitor()).await, "/lists", "a new key");
    there.provider.rotate();
    there.provider.misbehave(Some(Fault::Withdrawn));
    clock.advance(METADATA_LASTS);
    assert_eq!(
        there.sign_in(&mut there.visitor()).await,
        "/sign-in",
        "a key that was withdrawn"
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
