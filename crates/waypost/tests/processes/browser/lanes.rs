//! Holding a provider and letting it go again, while somebody watches.

use super::{Browser, Scripts, World, with_and_without_script};
use client::Notification;
use domain::{HoldReason, Status, TenantId};
use store::Queries;

const ROWS: usize = 12;

async fn held_by(world: &World) -> Option<HoldReason> {
    let lanes = world.store.lanes(TenantId::DEFAULT).await.unwrap();
    let lane = lanes.into_iter().find(|lane| lane.provider == "hook").unwrap();
    lane.hold.map(|hold| hold.reason)
}

/// Says whether the page was loaded anew since the mark was left.
async fn leave_mark(browser: &Browser) {
    browser.run("window.leftByTheTest = true").await;
}

async fn a_held_lane_keeps_its_rows_and_lets_them_go_when_it_is_resumed(scripts: Scripts) {
    let world = World::start().await;
    let browser = world.signed_in(scripts).await;
    browser.open("/providers/hook").await;
    browser.shows("#state", "Idle").await;
    browser.click("#hold-ask").await;
    browser.fill("#reason", "maintenance until noon").await;
    browser.click("#hold").await;
    browser.shows("#state", "Held").await;
    browser.shows("#state", "stopped by").await;
    browser.shows("#health", "maintenance until noon").await;
    assert_eq!(held_by(&world).await, Some(HoldReason::Operator));

    let mut ids = vec![];
    for n in 0..ROWS {
        let notification = Notification::by_provider("hook")
            .subject(format!("row {n}"))
            .body("…");
        ids.push(world.submit(notification).await);
    }
    browser.comes_to_show("#waiting", &ROWS.to_string()).await;
    assert_eq!(world.hook.counts().taken, 0);

    browser.open_beside("/notifications").await;
    browser.shows(&format!("#n-{}", ids[0]), "Held").await;
    leave_mark(&browser).await;
    browser.look_at_tab(0).await;
    browser.click("#resume").await;
    browser.shows("#flash", "what waited is sent now").await;
    assert_eq!(held_by(&world).await, None);

    browser.look_at_tab(1).await;
    for id in &ids {
        browser
            .comes_to_show(&format!("#n-{id} .state"), "Delivered")
            .await;
        assert_eq!(world.status_of(*id).await, Status::Delivered);
        assert_eq!(world.hook.deliveries_of(&id.to_string()), 1);
    }
    if scripts == Scripts::On {
        let same = browser.run("return window.leftByTheTest === true").await;
        assert_eq!(same, true, "the rows changed in place");
    }
}

with_and_without_script!(a_held_lane_keeps_its_rows_and_lets_them_go_when_it_is_resumed);
