//! Every link of the console leads somewhere.

use super::visitor::Visitor;
use crate::world::World;
use domain::{Failure, Outcome, Scope, TenantId};
use serde_json::json;
use std::collections::{BTreeSet, VecDeque};
use store::directory::Role;

/// Pages that are opened before the walk ends.
const MOST_PAGES: usize = 400;

/// The addresses of our own that a page links to, as a browser would ask for them.
fn links(page: &str) -> Vec<String> {
    let mut all = vec![];
    for rest in page.split("href=\"").skip(1) {
        let Some(link) = rest.split('"').next() else {
            continue;
        };
        let link = link.replace("&#38;", "&").replace("&amp;", "&");
        let link = link.split('#').next().unwrap_or_default().to_owned();
        if link.starts_with('/') && !link.starts_with("//") {
            all.push(link);
        }
    }
    all
}

#[tokio::test]
async fn every_link_of_the_console_leads_to_a_page_that_is_no_error() {
    let mut world = World::new().await;
    let refusal = Failure::permanent(Scope::Message, "SMTP_550", "no such mailbox");
    world.mail.answers(Outcome::Failed(refusal));
    let body = json!({"listName": "ops", "subject": "odd & <even>", "body": "text", "originExecutionId": "run 1&2",
        "entityType": "order", "entityId": "A/7"});
    world.post("/api/notifications", body).await.expect(202);
    world.dispatcher.sweep().await.unwrap();
    world.mail.accepts();
    world.delivered("well").await;
    world.submitted("waiting").await;
    let job = json!({"filter": {"q": "nothing"}});
    world.post("/api/notifications/retry", job).await.expect(202);
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;

    let mut seen = BTreeSet::from(["/".to_owned()]);
    let mut open = VecDeque::from([("/".to_owned(), "the start".to_owned())]);
    let mut opened = 0;
    while let Some((path, from)) = open.pop_front() {
        let answer = admin.get(&path).await;
        assert!(
            answer.status.is_success() || answer.status.is_redirection(),
            "{from} leads to {path}, which answers {}",
            answer.status
        );
        opened += 1;
        if opened == MOST_PAGES {
            break;
        }
        let html = answer
            .headers
            .get("content-type")
            .is_some_and(|kind| kind.to_str().unwrap().starts_with("text/html"));
        let found = if html { links(&answer.text) } else { vec![] };
        for link in found {
            if seen.insert(link.clone()) {
                open.push_back((link, path.clone()));
            }
        }
    }
    assert!(seen.iter().any(|link| link.contains("executionId=")), "{seen:?}");
}
