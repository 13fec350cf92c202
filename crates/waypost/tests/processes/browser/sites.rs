//! A site that goes away and comes back, and what is parked there.

use super::{Scripts, World, until, with_and_without_script};
use crate::site_agent::{AgentProcess, SiteSetup};
use domain::{AuditKind, TenantId, site::OperationStatus};
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use store::{
    Queries, Sites,
    query::{AuditFilter, Page},
    sites::CallFilter,
};

const PAGE: Page = Page {
    limit: 10,
    after: None,
};

async fn a_site_goes_offline_and_back_and_its_parked_message_is_retried_from_central(scripts: Scripts) {
    let world = World::start().await;
    let erp = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    erp.on(HttpRule::status(400).body("no such order"));

    let browser = world.signed_in(scripts).await;
    browser.open("/sites").await;
    browser.fill("#new-site #id", "north").await;
    browser.click("#new-site button").await;
    browser.shows("#registered", "north").await;
    let key = browser.text("#site-key").await.unwrap();
    browser.open("/sites/north").await;
    browser.shows("#link", "Never connected").await;

    let setup = SiteSetup {
        id: "north".into(),
        folder: world.folder().into(),
        central: format!("http://{}", world.node.link),
        key,
        more: format!("[[site.system]]\nname = \"erp\"\nbase_url = {:?}\n", erp.url("/")),
    };
    let agent = AgentProcess::start(&setup).await;
    let call = agent
        .site
        .call("erp")
        .post("/orders")
        .already_tried()
        .send()
        .await
        .unwrap();
    let operation = call.tracked_operation_id;
    browser.comes_to_show("#link", "Online").await;
    browser.comes_to_show("#parked", "no such order").await;
    browser.comes_to_show("#calls", "Parked").await;

    agent.kill();
    browser.comes_to_show("#link", "Offline").await;
    browser
        .comes_to_show("#not-told", "The site is offline since")
        .await;
    let known = world.store.sites(TenantId::DEFAULT).await.unwrap();
    assert!(known[0].offline_since.is_some());

    erp.behave();
    let agent = AgentProcess::start(&setup).await;
    browser.comes_to_show("#link", "Online").await;
    browser.comes_to_show("#parked", "no such order").await;
    browser
        .click(&format!("input[name=id][value='{operation}']"))
        .await;
    browser.click("#site-retry").await;
    browser
        .shows("#flash", "The site has sent round again 1 message.")
        .await;
    browser
        .comes_to_show("#nothing-parked", "Nothing is parked")
        .await;
    browser.comes_to_show("#calls", "Delivered").await;

    assert_eq!(erp.counts().taken, 1);
    let told = agent.site.tracking(operation).await.unwrap().status;
    assert_eq!(told, OperationStatus::Delivered);
    until("central to know", async || {
        let all = CallFilter::default();
        let calls = world.store.site_calls(TenantId::DEFAULT, &all, PAGE).await;
        calls.unwrap().rows[0].status == OperationStatus::Delivered
    })
    .await;
    let filter = AuditFilter {
        kind: Some(AuditKind::SiteParked),
        ..AuditFilter::default()
    };
    let log = world.store.audit(TenantId::DEFAULT, &filter, PAGE).await.unwrap();
    assert_eq!(log.rows[0].actor, "user:ann");
}

with_and_without_script!(a_site_goes_offline_and_back_and_its_parked_message_is_retried_from_central);
