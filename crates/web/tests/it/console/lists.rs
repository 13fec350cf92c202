//! Lists and suppressions on the console: taking somebody off by mistake, and taking a list away as a file.

use super::visitor::{Visitor, location};
use crate::world::World;
use domain::TenantId;
use serde_json::json;
use store::directory::Role;

/// The value of a hidden field of the form that puts somebody back.
fn kept<'a>(page: &'a str, name: &str) -> &'a str {
    let form = page
        .split("id=\"undo\"")
        .nth(1)
        .expect("the page offers to put it back");
    let value = form.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap();
    value.split('"').next().unwrap()
}

#[tokio::test]
async fn who_was_taken_off_a_list_can_be_put_back_as_they_were() {
    let world = World::new().await;
    let list = json!({"name": "night", "recipients": [
        {"address": "+4912345", "name": "Dora, night shift", "type": "Sms", "enabled": false}, {"address": "emil@example.com"}]});
    world.post("/api/lists", list).await.expect(201);
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let before = world.get("/api/lists/night").await.expect(200);
    let off = [("action", "remove"), ("address", "+4912345"), ("type", "Sms")];
    let answer = admin.post("/lists/night/change", &off).await;
    let after = world.get("/api/lists/night").await.expect(200);
    assert_eq!(after["recipients"].as_array().unwrap().len(), 1);
    let undo = location(&answer).to_owned();
    let page = admin.get(&undo).await.text;
    // For whoever did it, not for whoever is shown the address.
    let mut another = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    assert!(!another.get(&undo).await.text.contains("id=\"undo\""));
    let back = [
        ("address", kept(&page, "address")),
        ("name", kept(&page, "name")),
        ("type", kept(&page, "type")),
        // Switched off when taken off.
        ("off", kept(&page, "off")),
    ]
    .map(|(name, value)| (name, value.replace("&#43;", "+")));
    let back: Vec<_> = back.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let answer = admin.post("/lists/night/add", &back).await;
    assert_eq!(answer.status, 303, "{}", answer.text);
    let again = world.get("/api/lists/night").await.expect(200);
    let sorted = |list: &serde_json::Value| {
        let mut all: Vec<_> = list["recipients"]
            .as_array()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&again), sorted(&before));
    // Once it is back, nothing offers to put it back a second time.
    assert!(!admin.get(&undo).await.text.contains("id=\"undo\""));
}

#[tokio::test]
async fn no_address_makes_a_page_offer_to_put_back_somebody_who_was_never_there() {
    let world = World::new().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let page = admin.get("/lists/ops?removed=evil%40example.com").await;
    assert_eq!(page.status, 200);
    assert!(
        !page.text.contains("id=\"undo\"") && !page.text.contains("evil@example.com"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn taking_somebody_off_the_suppressions_is_asked_about() {
    let world = World::new().await;
    let entry = json!({"address": "gone@example.com", "channel": "Email", "reason": "asked"});
    world.post("/api/suppressions", entry).await.expect(201);
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let page = operator.get("/suppressions").await.text;
    let (_, row) = page.split_once("data-address=\"gone@example.com\"").unwrap();
    let (before, _) = row.split_once("/remove\"").unwrap();
    assert!(
        before.contains("<details class=\"confirm\">") && before.contains("is written to again"),
        "{before}"
    );
}

#[tokio::test]
async fn a_list_and_the_suppressions_are_taken_away_as_files_by_a_button() {
    let world = World::new().await;
    let entry = json!({"address": "=cmd()@example.com", "channel": "Email", "reason": "asked, twice"});
    world.post("/api/suppressions", entry).await.expect(201);
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    for (page, file, wanted) in [
        ("/lists/ops", "/lists/ops/csv", "ops@example.com,,Email,true\r\n"),
        ("/suppressions", "/suppressions.csv", "\"asked, twice\""),
    ] {
        let shown = viewer.get(page).await.text;
        assert!(shown.contains(&format!("id=\"csv\" href=\"{file}\"")), "{page}");
        let answer = viewer.get(file).await;
        assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
        assert!(answer.text.contains(wanted), "{file}: {}", answer.text);
    }
    let file = viewer.get("/suppressions.csv").await.text;
    assert!(
        file.contains("\"'=cmd()@example.com\""),
        "no spreadsheet runs it: {file}"
    );
    let none = viewer
        .get("/suppressions.csv?address=nobody%40example.com")
        .await
        .text;
    assert_eq!(none.lines().count(), 1, "{none}");
    assert_eq!(viewer.get("/lists/nothing/csv").await.status, 404);
}
