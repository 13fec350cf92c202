//! Settings that are taken, and that somebody should look at all the same.

use crate::{
    console::visitor::Visitor,
    world::{Answer, World},
};
use domain::TenantId;
use serde_json::{Value, json};
use std::sync::Arc;
use store::directory::Role;

const OLD: &str = "https://prod-12.westeurope.logic.azure.com/workflows/0123abcd/triggers/manual/paths/invoke?sig=OldSecretSignature";
const NEW: &str = "https://0123abcd.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/0123abcd?sig=NewSecretSignature";

async fn with_real_kinds() -> World {
    let outside = Arc::new(delivery::Outside::new(Arc::new(domain::SystemClock)));
    let real = delivery::Registry::standard(outside, delivery::Captured::default());
    World::with_kinds(real.iter().cloned().collect()).await
}

fn warned(answer: &Value) -> bool {
    let warnings = answer["warnings"].as_array().unwrap();
    let is_said = warnings.iter().any(|one| {
        let words = one.as_str().unwrap();
        words.contains("logic.azure.com ended on 30 November 2025")
    });
    assert!(is_said || warnings.is_empty(), "{warnings:?}");
    is_said
}

#[tokio::test]
async fn an_address_of_teams_from_where_flows_ended_is_saved_with_a_warning() {
    let world = with_real_kinds().await;
    let made = json!({"id": "ops", "kind": "teams", "settings": {"url": OLD}});
    let made = world.post("/api/providers", made).await.expect(201);
    assert!(warned(&made) && warned(&world.get("/api/providers/ops").await.expect(200)));
    assert!(!made.to_string().contains("OldSecretSignature"));
    // What was read can be sent back, and what was wrong stays so until somebody changes it.
    let put = async |body: Value| -> Answer {
        let key = world.key(Role::Admin);
        world.ask("PUT", "/api/providers/ops", &key, Some(body)).await
    };
    let again = put(made).await.expect(200);
    assert!(warned(&again));
    let mended = put(json!({"settings": {"url": NEW}})).await.expect(200);
    assert!(!warned(&mended));
}

#[tokio::test]
async fn the_console_says_so_after_saving_it() {
    let world = with_real_kinds().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for (name, url, is_old) in [("Old", OLD, true), ("New", NEW, false)] {
        let form = [
            ("kind", "teams"),
            ("name", name),
            ("enabled", "true"),
            ("secret.settings.url", "replace"),
            ("settings.url", url),
        ];
        let made = admin.post("/providers/new", &form).await;
        assert_eq!(made.status, 303, "{}", made.text);
        let page = admin
            .get(&format!("/providers/{}", name.to_lowercase()))
            .await
            .text;
        assert!(page.contains("The provider is added."), "{page}");
        assert_eq!(
            page.contains("ended on 30 November 2025: take the address"),
            is_old,
            "{page}"
        );
    }
}
