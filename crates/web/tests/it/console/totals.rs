//! How many notifications a view has: counted where an index tells, as far as was looked where it does not.

use super::visitor::Visitor;
use crate::world::World;
use domain::TenantId;
use serde_json::json;
use store::directory::Role;

/// More than fit on a page.
const SENT: usize = 60;

async fn total(visitor: &mut Visitor, path: &str, live: bool) -> String {
    let headers: &[_] = if live { &[("x-waypost-live", "yes")] } else { &[] };
    let page = visitor.get_with(path, headers).await.text;
    let (_, rest) = page.split_once("data-live=\"total\">").expect(&page);
    rest.split('<').next().unwrap().to_owned()
}

async fn filled() -> (World, Visitor) {
    let world = World::new().await;
    for n in 0..SENT {
        let body = json!({"listName": "ops", "subject": format!("Pump {n}"), "body": "text",
            "entityType": "pump", "entityId": "7"});
        world.post("/api/notifications", body).await.expect(202);
    }
    let viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    (world, viewer)
}

#[tokio::test]
async fn a_list_longer_than_its_page_says_how_many_there_are() {
    let (_world, mut viewer) = filled().await;
    for path in [
        "/notifications",
        "/notifications?range=today",
        "/notifications?entityType=pump&entityId=7",
        "/notifications?status=Pending",
        "/notifications?list=ops",
        "/notifications?q=pump",
    ] {
        assert_eq!(total(&mut viewer, path, false).await, "60 in all", "{path}");
    }
    let waiting = "/notifications?status=Pending&status=Retrying";
    assert_eq!(total(&mut viewer, waiting, false).await, "60 waiting");
    let page = viewer.get("/notifications").await.text;
    let (before, _) = page.split_once("\" id=\"older\"").unwrap();
    let older = before.rsplit("href=\"").next().unwrap().replace("&amp;", "&");
    assert_eq!(
        total(&mut viewer, &older, false).await,
        "60 in all",
        "also further back"
    );
}

#[tokio::test]
async fn pages_that_refresh_themselves_share_a_count_and_who_comes_is_told_the_newest() {
    let (world, mut viewer) = filled().await;
    let path = "/notifications?list=ops";
    for sent in SENT.. {
        let (before, after) = (format!("{sent} in all"), format!("{} in all", sent + 1));
        let began = tokio::time::Instant::now();
        assert_eq!(total(&mut viewer, path, true).await, before, "counted again");
        world.submitted("one more").await;
        let refreshed = total(&mut viewer, path, true).await;
        // On a machine that stood still meanwhile the count is old already: then once more.
        let within = began.elapsed() < central::watched_kpis::FRESH_FOR;
        assert_eq!(total(&mut viewer, path, false).await, after);
        assert_eq!(
            total(&mut viewer, path, true).await,
            after,
            "no refresh goes back behind what somebody was told"
        );
        tokio::time::pause();
        tokio::time::advance(central::watched_kpis::FRESH_FOR).await;
        tokio::time::resume();
        if within {
            assert_eq!(refreshed, before, "the same count");
            world.submitted("and another").await;
            let all = format!("{} in all", sent + 2);
            assert_eq!(total(&mut viewer, path, true).await, all, "counted again");
            break;
        }
    }
}
