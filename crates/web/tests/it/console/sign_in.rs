//! Passwords, throttling, cookies.

use super::visitor::{Visitor, location};
use crate::world::{Answer, World};
use axum::{
    Extension,
    extract::ConnectInfo,
    http::{StatusCode, header},
};
use central::users::{SignInError, UserDraft};
use domain::{Actor, AuditKind, TenantId};
use std::{net::SocketAddr, time::Duration};
use store::{
    directory::Role,
    query::{AuditFilter, Page},
};
use web::{
    WebState,
    console::{ConsoleSettings, SESSION_COOKIE},
};

const PASSWORD: &str = "a password of several words";

async fn with_ann() -> World {
    let world = World::new().await;
    let draft = UserDraft {
        name: "ann".into(),
        password: Some(PASSWORD.into()),
        tenant: TenantId::DEFAULT,
        role: Role::Admin,
    };
    world.central.users.create(draft, &Actor::system()).await.unwrap();
    world
}

/// Fills in the form as it was shown.
async fn try_password(visitor: &mut Visitor, password: &str, next: &str) -> Answer {
    let page = visitor.get("/sign-in").await.text;
    let (_, after) = page.split_once("name=\"csrf\" value=\"").unwrap();
    visitor.csrf = after.split('"').next().unwrap().to_owned();
    visitor
        .post(
            "/sign-in",
            &[("name", "ann"), ("password", password), ("next", next)],
        )
        .await
}

fn session_cookie(answer: &Answer) -> String {
    let all = answer.headers.get_all(header::SET_COOKIE).iter();
    let mut texts = all.map(|value| value.to_str().unwrap().to_owned());
    texts
        .find(|text| {
            text.trim_start_matches("__Host-")
                .starts_with(&format!("{SESSION_COOKIE}="))
        })
        .unwrap()
}

#[tokio::test]
async fn the_page_of_strangers_says_when_there_is_nobody_and_asks_the_store_no_more_once_there_is_somebody() {
    let world = World::new().await;
    let mut stranger = Visitor::stranger(&world.router);
    assert!(stranger.get("/sign-in").await.text.contains("id=\"nobody\""));
    let draft = UserDraft {
        name: "ann".into(),
        password: None,
        tenant: TenantId::DEFAULT,
        role: Role::Admin,
    };
    world.central.users.create(draft, &Actor::system()).await.unwrap();
    assert!(!stranger.get("/sign-in").await.text.contains("id=\"nobody\""));
    world.temp.store.close().await;
    let page = stranger.get("/sign-in").await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    assert!(!page.text.contains("id=\"nobody\""));
}

#[tokio::test]
async fn the_session_is_out_of_reach_of_script_and_of_other_sites() {
    let world = with_ann().await;
    let answer = try_password(&mut Visitor::stranger(&world.router), PASSWORD, "/").await;
    let cookie = session_cookie(&answer);
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    assert!(
        !cookie.contains("Secure"),
        "on plain HTTP it would never come back"
    );
    let settings = ConsoleSettings {
        secure: true,
        ..ConsoleSettings::default()
    };
    let router = web::router(WebState::new(world.central.clone()).with_console(settings));
    let answer = try_password(&mut Visitor::stranger(&router), PASSWORD, "/").await;
    let cookie = session_cookie(&answer);
    assert!(
        cookie.starts_with("__Host-") && cookie.contains("; Secure"),
        "{cookie}"
    );
    assert_eq!(answer.headers["strict-transport-security"], "max-age=31536000");
}

/// Signs in wrongly from this peer, whose request says that it is for somebody else.
async fn wrong_try(world: &World, peer: [u8; 4], is_for: &str) -> StatusCode {
    let settings = ConsoleSettings {
        trusted_proxies: vec!["10.0.0.0/24".parse().unwrap()],
        ..ConsoleSettings::default()
    };
    let router = web::router(WebState::new(world.central.clone()).with_console(settings));
    let peer = ConnectInfo(SocketAddr::from((peer, 4711)));
    let mut visitor = Visitor::stranger(&router.layer(Extension(peer)));
    let page = visitor.get("/sign-in").await;
    visitor.learn_secret(&page);
    let csrf = visitor.csrf.clone();
    let fields = [("csrf", csrf.as_str()), ("name", "ann"), ("password", "wrong")];
    let headers = [("x-forwarded-for", is_for)];
    visitor.post_only("/sign-in", &fields, &headers).await.status
}

#[tokio::test]
async fn guesses_count_for_whom_a_trusted_proxy_names_and_else_for_who_makes_them() {
    let (proxy, guesser) = ([10, 0, 0, 1], [203, 0, 113, 9]);
    let world = with_ann().await;
    for _ in 0..5 {
        assert_eq!(
            wrong_try(&world, proxy, "198.51.100.1").await,
            StatusCode::UNAUTHORIZED
        );
    }
    assert_eq!(
        wrong_try(&world, proxy, "198.51.100.1").await,
        StatusCode::TOO_MANY_REQUESTS
    );
    assert_eq!(
        wrong_try(&world, proxy, "198.51.100.2").await,
        StatusCode::UNAUTHORIZED
    );
    for n in 1..=5 {
        let is_for = format!("198.51.101.{n}");
        assert_eq!(
            wrong_try(&world, guesser, &is_for).await,
            StatusCode::UNAUTHORIZED
        );
    }
    assert_eq!(
        wrong_try(&world, guesser, "198.51.101.6").await,
        StatusCode::TOO_MANY_REQUESTS
    );
}

#[tokio::test]
async fn after_five_wrong_passwords_even_the_right_one_has_to_wait() {
    let world = with_ann().await;
    let mut visitor = Visitor::stranger(&world.router);
    for _ in 0..5 {
        let answer = try_password(&mut visitor, "wrong password", "/").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    let answer = try_password(&mut visitor, PASSWORD, "/").await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(answer.text.contains("Wait"), "{}", answer.text);
    world.temp.clock.advance(Duration::from_secs(5 * 60));
    let answer = try_password(&mut visitor, PASSWORD, "/").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn signing_in_leads_on_to_our_own_pages_only() {
    let world = with_ann().await;
    for (next, leads_to) in [
        ("/providers", "/providers"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
    ] {
        let answer = try_password(&mut Visitor::stranger(&world.router), PASSWORD, next).await;
        assert_eq!(location(&answer), leads_to, "{next}");
    }
}

#[tokio::test]
async fn who_is_kept_out_is_out_at_once() {
    let world = with_ann().await;
    let mut visitor = Visitor::stranger(&world.router);
    try_password(&mut visitor, PASSWORD, "/").await;
    assert_eq!(visitor.get("/").await.status, StatusCode::OK);
    let ann = world.temp.store.user_by_name("ann").await.unwrap().unwrap();
    world
        .temp
        .store
        .set_disabled(ann.id, true, &Actor::system())
        .await
        .unwrap();
    assert_eq!(visitor.get("/").await.status, StatusCode::SEE_OTHER);
    let answer = try_password(&mut visitor, PASSWORD, "/").await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn guesses_that_are_made_at_once_are_no_more_than_guesses_one_by_one() {
    let world = with_ann().await;
    let users = world.central.users.clone();
    let guesses = (0..40).map(|n| {
        let users = users.clone();
        async move { users.sign_in("ann", &format!("wrong password {n}"), None).await }
    });
    let answers = futures_util::future::join_all(guesses).await;
    let looked_at = answers
        .iter()
        .filter(|answer| matches!(answer, Err(SignInError::Refused)))
        .count();
    assert_eq!(looked_at, 5);
}

#[tokio::test]
async fn a_stranger_cannot_send_a_large_form() {
    let world = with_ann().await;
    let mut visitor = Visitor::stranger(&world.router);
    visitor.get("/sign-in").await;
    let name = "n".repeat(64 << 10);
    let answer = visitor
        .post("/sign-in", &[("name", &name), ("password", "x")])
        .await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_name_that_nobody_can_have_is_refused_like_one_that_nobody_has() {
    let world = with_ann().await;
    for name in ["nobody", &"n".repeat(100_000), "a\nb", ""] {
        let answer = world.central.users.sign_in(name, PASSWORD, None).await;
        assert!(matches!(answer, Err(SignInError::Refused)), "{answer:?}");
    }
}

#[tokio::test]
async fn a_refused_sign_in_is_written_down_beside_the_answer() {
    let world = with_ann().await;
    let refused = world.central.users.sign_in("ann", "wrong password", None).await;
    assert!(refused.is_err());
    let everything = AuditFilter::default();
    let page = || Page {
        limit: 50,
        after: None,
    };
    loop {
        let audit = world.temp.store.audit(TenantId::DEFAULT, &everything, page());
        let rows = audit.await.unwrap().rows;
        if rows.iter().any(|row| row.kind == AuditKind::SignInRefused) {
            break;
        }
        tokio::task::yield_now().await;
    }
}
