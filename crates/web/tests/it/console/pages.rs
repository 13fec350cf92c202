//! What pages may hold and what they tell the browser.

use super::visitor::{Visitor, filled};
use crate::world::World;
use domain::{Failure, HoldReason, Scope, TenantId};
use std::time::Duration;
use store::{
    directory::Role,
    loops::{About, Swept},
};
use web::{access::Access, console::routes};

#[tokio::test]
async fn every_page_forbids_script_of_its_own_frames_and_guessing() {
    let mut world = World::new().await;
    let id = world.parked("something").await;
    for route in routes().into_iter().filter(|route| route.method == "GET") {
        let role = if route.access == Access::Tenants {
            Role::Ops
        } else {
            Role::Admin
        };
        let mut visitor = Visitor::new(&world, TenantId::DEFAULT, role).await;
        let answer = visitor.get(&filled(&route, &id)).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{route:?}");
        assert!(!policy.contains("unsafe"), "{route:?}");
        assert!(policy.contains("frame-ancestors 'none'"), "{route:?}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert!(
            answer.headers["cache-control"].to_str().unwrap().contains("no-"),
            "{route:?}"
        );
        // What the policy would block must not be there in the first place.
        for forbidden in [
            "<script>",
            "<style",
            " style=",
            " onclick=",
            " onload=",
            "javascript:",
        ] {
            assert!(!answer.text.contains(forbidden), "{route:?} holds {forbidden}");
        }
    }
}

/// The figure on the overview's tile of what waits.
fn queue_depth(page: &str) -> String {
    let (_, value) = page.split_once("data-kpi=\"waiting\">").expect("the tile");
    value.split('<').next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn an_overview_that_refreshes_itself_shows_the_figures_that_all_share_and_a_visitor_those_of_now() {
    let world = World::new().await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let live = [("x-waypost-live", "yes")];
    let first = visitor.get_with("/", &live).await.text;
    assert_eq!(queue_depth(&first), "0");
    world.submitted("a").await;
    let again = visitor.get_with("/", &live).await.text;
    assert_eq!(
        queue_depth(&again),
        "0",
        "what was counted for the refresh before"
    );
    let came = visitor.get("/").await.text;
    assert_eq!(queue_depth(&came), "1", "whoever comes sees what they have done");
    let told = world.get("/api/kpis").await.expect(200);
    assert_eq!(told["queueDepth"], 1);
    world.submitted("b").await;
    let told = world.get("/api/kpis").await.expect(200);
    assert_eq!(told["queueDepth"], 2);
}

#[tokio::test]
async fn text_from_outside_is_shown_as_text() {
    let mut world = World::new().await;
    let id = world.parked("<script>alert(1)</script> & \"quotes\"").await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for path in ["/notifications".to_owned(), format!("/notifications/{id}")] {
        let page = visitor.get(&path).await.text;
        assert!(!page.contains("<script>alert"), "{path}");
        assert!(page.contains("alert(1)"), "{path}");
    }
}

#[tokio::test]
async fn filters_survive_in_the_address() {
    let mut world = World::new().await;
    world.parked("needle in here").await;
    world.delivered("something else").await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = visitor
        .get("/notifications?status=Parked&q=needle&type=Email")
        .await
        .text;
    assert!(page.contains("needle in here") && !page.contains("something else"));
    assert!(page.contains("value=\"needle\""), "the form shows the filter");
}

#[tokio::test]
async fn a_filter_that_cannot_be_read_or_is_unknown_shows_no_list_and_offers_nothing_to_do() {
    let mut world = World::new().await;
    world.parked("needle in here").await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for (query, named) in [
        ("from=yesterday", "from"),
        ("status=Parkd", "Parkd"),
        ("errocode=SMTP_550", "errocode"),
        ("range=2w", "range"),
        ("stuck=perhaps", "stuck"),
        ("type=Pigeon", "Pigeon"),
        ("cursor=7", "cursor"),
        ("status=Parked&status=Nonsense", "Nonsense"),
    ] {
        let page = visitor.get(&format!("/notifications?{query}")).await;
        assert_eq!(page.status, 422, "{query}");
        assert!(page.text.contains(named), "{query}: {}", page.text);
        for absent in ["needle in here", "discard-all", "retry-selected"] {
            assert!(!page.text.contains(absent), "{query} shows {absent}");
        }
        if query.starts_with("cursor") {
            continue;
        }
        let fields = [("action", "discard"), ("scope", "all"), ("query", query)];
        let asked = visitor.get_form("/notifications/bulk", &fields).await;
        assert_eq!(asked.status, 422, "{query}");
        let done = visitor.post("/notifications/bulk/go", &fields).await;
        assert_eq!(done.status, 422, "{query}");
    }
    assert_eq!(world.central.jobs.sweep().await.unwrap().rows, 0);
    let page = visitor.get("/audit?kind=Nonsense").await;
    assert_eq!(page.status, 422);
    assert_eq!(visitor.get("/audit?actr=x").await.status, 422);
}

#[tokio::test]
async fn the_page_that_asks_fixes_what_is_acted_on() {
    for action in ["retry", "discard"] {
        let mut world = World::new().await;
        let counted = world.parked("counted").await;
        let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
        let fields = [
            ("action", action),
            ("scope", "all"),
            ("query", "status=Parked&range=1h"),
        ];
        let page = visitor.get_form("/notifications/bulk", &fields).await.text;
        let hidden = |name: &str| {
            let after = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
            after.split('"').next().unwrap().to_owned()
        };
        let (as_of, count) = (hidden("asOf"), hidden("count"));
        assert_eq!(count, "1");
        world.temp.clock.advance(std::time::Duration::from_secs(22));
        let later = world.parked("later").await;
        let mut all = fields.to_vec();
        all.extend([("asOf", as_of.as_str()), ("count", count.as_str())]);
        let answer = visitor.post("/notifications/bulk/go", &all).await;
        assert_eq!(answer.status, 303, "{}", answer.text);
        world.central.jobs.sweep().await.unwrap();
        assert_ne!(world.status(&counted).await, "Parked");
        assert_eq!(world.status(&later).await, "Parked");
        let without = visitor.post("/notifications/bulk/go", &fields).await;
        assert_eq!(without.status, 422, "what was not counted is not acted on");
    }
}

#[tokio::test]
async fn an_address_that_leads_nowhere_is_a_page_for_a_browser_and_a_problem_for_a_program() {
    let world = World::new().await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    for (path, status) in [("/notifications/abc", 404), ("/notifications/bulk/go", 405)] {
        let page = visitor.get(path).await;
        assert_eq!(page.status.as_u16(), status, "{path}");
        let kind = page.headers["content-type"].to_str().unwrap();
        assert!(kind.starts_with("text/html"), "{path} is {kind}");
        assert!(page.text.contains("id=\"failure\""), "{path}: {}", page.text);
    }
    world.get("/api/notifications/abc").await.problem(404);
    let key = world.key(Role::Viewer);
    let asked = world.ask("DELETE", "/api/notifications/retry", &key, None).await;
    asked.problem(405);
}

#[tokio::test]
async fn a_person_who_may_not_is_told_about_their_role_and_not_about_a_key() {
    let world = World::new().await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    for page in [
        visitor.get("/keys").await,
        visitor.get("/notifications/bulk?action=retry").await,
    ] {
        assert_eq!(page.status, 403);
        assert!(
            page.text.contains("Your role does not allow this"),
            "{}",
            page.text
        );
        assert!(page.text.contains("yours here is viewer"), "{}", page.text);
        assert!(!page.text.contains("key's role"), "{}", page.text);
    }
}

#[tokio::test]
async fn a_page_whose_rows_stay_as_they_were_hears_when_central_is_gone_and_does_not_call_itself_live() {
    let world = World::new().await;
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    for place in ["/audit", "/events", "/schedules"] {
        let page = viewer.get(place).await.text;
        assert!(page.contains("data-live-stream=\"/live\""), "{place}: {page}");
        assert!(page.contains("id=\"unreachable\""), "{place}: {page}");
        assert!(!page.contains("id=\"live-state\""), "{place}: {page}");
    }
}

#[tokio::test]
async fn the_audit_log_is_taken_away_as_it_is_filtered_by_a_button() {
    let mut world = World::new().await;
    let id = world.parked("anything").await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = visitor.get(&format!("/audit?correlation={id}")).await.text;
    let file = page
        .split("id=\"csv\" href=\"")
        .nth(1)
        .expect("there is a button");
    let file = file.split('"').next().unwrap();
    let answer = visitor.get(file).await;
    assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
    let rows: Vec<_> = answer.text.lines().skip(1).collect();
    assert!(
        !rows.is_empty() && rows.iter().all(|row| row.contains(&id)),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("SMTP_550"), "{}", answer.text);
    let everything = visitor.get("/audit.csv").await.text;
    assert!(
        everything.lines().count() > rows.len() + 1,
        "without the filter there is more"
    );
}

#[tokio::test]
async fn what_fails_at_a_provider_is_told_where_its_figure_leads_also_while_it_is_held() {
    let mut world = World::new().await;
    let refused = Failure::permanent(Scope::Lane, "SMTP_535", "wrong password").holding(HoldReason::Auth);
    world.mail.answers(refused.into());
    let id = world.submitted("waits for a password").await;
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Pending");
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = visitor.get("/providers").await.text;
    assert!(page.contains("href=\"/providers/mail#failures\">1</a>"), "{page}");
    let page = visitor.get("/providers/mail").await.text;
    let failures = page
        .split("id=\"failures\"")
        .nth(1)
        .expect("the page has that part");
    let list = failures
        .split("href=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    assert!(failures.contains("wrong password"), "{failures}");
    let list = list.replace("&amp;", "&").replace("&#38;", "&");
    let rows = visitor.get(&list).await.text;
    assert!(rows.contains("waits for a password"), "{list}: {rows}");
}

#[tokio::test]
async fn a_loop_that_never_had_anything_to_do_is_not_said_to_have_run() {
    let world = World::new().await;
    let about = About::when_woken("expiry", "parks what waits past its time", Duration::from_secs(1));
    world.central.loops.enter(about);
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let loops = visitor.get("/").await.text;
    let loops = loops.split("id=\"loops\"").nth(1).unwrap();
    assert!(loops.contains("has had nothing to do yet"), "{loops}");
    let run = world.central.loops.begin(about);
    world
        .central
        .loops
        .over(&run, &Swept::did("parked 2 notifications"));
    world.temp.clock.advance(Duration::from_secs(60));
    let run = world.central.loops.begin(about);
    world
        .central
        .loops
        .over(&run, &Swept::idle("nothing waits past its time"));
    let page = visitor.get("/loops").await.text;
    for told in ["nothing waits past its time", "parked 2 notifications"] {
        assert!(page.contains(told), "{told}: {page}");
    }
    let loops = world.get("/api/loops").await.expect(200);
    assert_eq!(loops["items"][0]["lastWork"]["result"], "parked 2 notifications");
}
