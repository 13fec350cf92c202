//! Every list can be taken away as a file, as it is on its page.

use super::visitor::Visitor;
use crate::{sites::linked, world::World};
use domain::TenantId;
use serde_json::json;
use store::directory::Role;
use web::{access::Access, console::routes};

/// A place with something on every list.
async fn furnished() -> World {
    let mut world = World::new().await;
    world.parked("of a job").await;
    let filter = json!({"status": "Parked", "q": "of job"});
    world
        .post("/api/notifications/retry", json!({"filter": filter}))
        .await
        .expect(202);
    let template = json!({"eventType": "booking.confirmed", "channel": "Email", "subject": "x", "body": "y"});
    world.post("/api/message-templates", template).await.expect(201);
    let event = json!({"eventType": "booking.confirmed", "entityId": "7", "payload": {}});
    world.post("/api/events", event).await.expect(202);
    let entry = json!({"address": "gone@example.com", "channel": "Email"});
    world.post("/api/suppressions", entry).await.expect(201);
    let empty = json!({"name": "nobody, yet", "recipients": []});
    world.post("/api/lists", empty).await.expect(201);
    let about = store::loops::About::every("purge", "", std::time::Duration::from_secs(60));
    let run = world.central.loops.begin(about);
    let swept = store::loops::Swept::did("purged 2 events, 1 key");
    world.central.loops.over(&run, &swept);
    world
}

/// Where a page's button leads.
fn button(page: &str) -> Option<String> {
    let at = page.find("id=\"csv\"")?;
    let from = page[..at].rfind('<')?;
    let tag = &page[from..at + page[at..].find('>')?];
    let file = tag.split("href=\"").nth(1)?;
    Some(file.split('"').next()?.replace("&#38;", "&"))
}

#[tokio::test]
async fn every_page_with_a_list_has_a_button_that_leads_to_its_file() {
    let world = furnished().await;
    let _linked = linked(&world).await;
    let mut ops = Visitor::new(&world, TenantId::DEFAULT, Role::Ops).await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let mut seen = 0;
    for route in routes() {
        // Pages of one thing tell about it in small tables; the overview leads to the lists.
        let of_a_list = route.method == "GET" && !route.path.contains(['{', '.']) && route.path != "/";
        if !of_a_list || route.path == "/live" {
            continue;
        }
        let visitor = if route.access == Access::Tenants {
            &mut ops
        } else {
            &mut admin
        };
        let page = visitor.get(route.path).await.text;
        if !page.contains("<table class=\"rows\"") {
            continue;
        }
        seen += 1;
        let file = button(&page).unwrap_or_else(|| panic!("{} has a list and no file", route.path));
        let answer = visitor.get(&file).await;
        assert_eq!(answer.status, 200, "{file}");
        assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
        let named = format!("attachment; filename=\"{}\"", file.trim_start_matches('/'));
        assert_eq!(answer.headers["content-disposition"], named.as_str());
        let mut lines = answer.text.split_terminator("\r\n");
        let columns = lines.next().unwrap().split(',').count();
        assert!(columns > 1 && lines.next().is_some(), "{file}: {}", answer.text);
    }
    assert!(seen >= 12, "only {seen} lists were seen");
}

#[tokio::test]
async fn a_file_holds_what_its_page_shows_and_no_secret() {
    let world = furnished().await;
    let mut ops = Visitor::new(&world, TenantId::DEFAULT, Role::Ops).await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for (file, wanted) in [
        ("/providers.csv", "mail,mail,test-mail,Email,true,0,"),
        ("/templates.csv", "booking.confirmed,Email,default,,,,true,1,"),
        (
            "/lists.csv",
            "\"nobody, yet\",,,,\r\nops,ops@example.com,,Email,true\r\n",
        ),
        ("/keys.csv", ",producer,producer,"),
        ("/users.csv", ",admin,false,"),
        ("/jobs.csv", ",retry,Working,"),
        ("/loops.csv", "purge,true,\"purged 2 events, 1 key\","),
    ] {
        let answer = admin.get(file).await;
        assert!(answer.text.contains(wanted), "{file}: {}", answer.text);
        assert!(!answer.text.contains("hunter2"), "{file}: {}", answer.text);
    }
    let tenants = ops.get("/tenants.csv").await.text;
    assert!(tenants.contains("other,2"), "{tenants}");
    let keys = admin.get("/keys.csv").await.text;
    for role in Role::ALL {
        assert!(!keys.contains(&world.key(role)), "{role}");
    }
}

#[tokio::test]
async fn templates_are_taken_away_as_they_are_filtered_and_a_filter_that_cannot_be_read_is_refused() {
    let world = furnished().await;
    let sms = json!({"eventType": "code.wanted", "channel": "Sms", "body": "y"});
    world.post("/api/message-templates", sms).await.expect(201);
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let page = viewer.get("/templates?channel=Sms").await.text;
    let file = button(&page).unwrap();
    let text = viewer.get(&file).await.text;
    assert!(
        text.contains("code.wanted") && !text.contains("booking"),
        "{file}: {text}"
    );
    for path in ["/templates", "/templates.csv"] {
        for query in ["channel=Pigeon", "deleted=perhaps", "chanel=Sms"] {
            let answer = viewer.get(&format!("{path}?{query}")).await;
            assert_eq!(answer.status, 422, "{path}?{query}");
        }
    }
}
