//! A form that arrives twice: a double click, the way back and yes again, a browser that sends it once more.

use super::visitor::{Visitor, location};
use crate::world::World;
use domain::TenantId;
use store::directory::Role;

/// The value of a hidden field of the page.
fn hidden(page: &str, name: &str) -> String {
    let after = page.split(&format!("name=\"{name}\" value=\"")).nth(1);
    let value = after.unwrap_or_else(|| panic!("no field {name} in {page}"));
    value.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn sending_one_again_twice_by_the_same_button_sends_it_once() {
    let mut world = World::new().await;
    let id = world.delivered("once").await;
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let place = format!("/notifications/{id}");
    let page = operator.get(&place).await.text;
    let request = hidden(&page, "request");
    let again = [("request", request.as_str()), ("expiresAt", "")];
    let first = operator.post(&format!("{place}/resend"), &again).await;
    let second = operator.post(&format!("{place}/resend"), &again).await;
    assert_eq!(location(&first), location(&second));
    assert_ne!(location(&first), place);
    assert_eq!(world.rows().await, 2);
    // A page that is opened afresh is a new wish.
    let page = operator.get(&place).await.text;
    let fresh = hidden(&page, "request");
    operator
        .post(&format!("{place}/resend"), &[("request", &fresh)])
        .await;
    assert_eq!(world.rows().await, 3);
}

#[tokio::test]
async fn sending_the_chosen_ones_again_twice_by_the_same_button_sends_them_once() {
    let mut world = World::new().await;
    let (one, two) = (world.delivered("one").await, world.delivered("two").await);
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let list = operator.get("/notifications").await.text;
    let request = hidden(&list, "request");
    let chosen = [
        ("request", request.as_str()),
        ("action", "resend"),
        ("id", &one),
        ("id", &two),
    ];
    // The question has an address: it can be loaded again and come back to, and asks the same.
    for _ in 0..2 {
        let question = operator.get_form("/notifications/bulk", &chosen).await;
        assert_eq!(question.status, 200, "{}", question.text);
        assert_eq!(hidden(&question.text, "request"), request);
        assert_eq!(operator.post("/notifications/bulk/go", &chosen).await.status, 303);
    }
    assert_eq!(world.rows().await, 4);
    let said = operator.get("/notifications").await.text;
    assert!(
        said.contains("2 had been sent once more by this button already"),
        "{said}"
    );
}

#[tokio::test]
async fn sending_all_that_match_again_twice_by_the_same_button_is_one_bulk_action() {
    let mut world = World::new().await;
    world.delivered("one").await;
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let list = operator.get("/notifications?status=Delivered").await.text;
    let request = hidden(&list, "request");
    let all = [
        ("request", request.as_str()),
        ("action", "resend"),
        ("scope", "all"),
        ("query", "status=Delivered"),
    ];
    let mut places = vec![];
    for _ in 0..2 {
        let question = operator.get_form("/notifications/bulk", &all).await.text;
        let (as_of, count) = (hidden(&question, "asOf"), hidden(&question, "count"));
        let mut yes = all.to_vec();
        yes.extend([("asOf", as_of.as_str()), ("count", count.as_str())]);
        let answer = operator.post("/notifications/bulk/go", &yes).await;
        places.push(location(&answer).to_owned());
        world.central.jobs.sweep().await.unwrap();
        // Whatever came of the first: the way back and yes again are about the same.
        world.temp.clock.advance(std::time::Duration::from_secs(5));
    }
    assert_eq!(places[0], places[1]);
    assert_eq!(world.rows().await, 2);
    let said = operator.get(&places[1]).await.text;
    assert!(said.contains("This was asked for already"), "{said}");
    // Other rows are another wish, whatever the form says.
    let other = operator
        .get_form(
            "/notifications/bulk",
            &[
                ("request", &request),
                ("action", "resend"),
                ("scope", "all"),
                ("query", "status=Delivered&type=Email"),
            ],
        )
        .await
        .text;
    let (as_of, count) = (hidden(&other, "asOf"), hidden(&other, "count"));
    let yes = [
        ("request", request.as_str()),
        ("action", "resend"),
        ("scope", "all"),
        ("query", "status=Delivered&type=Email"),
        ("asOf", as_of.as_str()),
        ("count", count.as_str()),
    ];
    let answer = operator.post("/notifications/bulk/go", &yes).await;
    assert_ne!(location(&answer), places[0]);
}

#[tokio::test]
async fn sending_all_that_are_parked_round_again_by_the_same_question_is_done_again_when_they_parked_again() {
    let mut world = World::new().await;
    let id = world.parked("pump").await;
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let list = operator.get("/notifications?status=Parked").await.text;
    let request = hidden(&list, "request");
    let all = [
        ("request", request.as_str()),
        ("action", "retry"),
        ("scope", "all"),
        ("query", "status=Parked"),
    ];
    let mut places = vec![];
    for _ in 0..2 {
        let question = operator.get_form("/notifications/bulk", &all).await.text;
        let (as_of, count) = (hidden(&question, "asOf"), hidden(&question, "count"));
        assert_eq!(count, "1");
        let mut yes = all.to_vec();
        yes.extend([("asOf", as_of.as_str()), ("count", count.as_str())]);
        let answer = operator.post("/notifications/bulk/go", &yes).await;
        places.push(location(&answer).to_owned());
        world.central.jobs.sweep().await.unwrap();
        world.parks_again(&id).await;
        world.temp.clock.advance(std::time::Duration::from_secs(5));
    }
    assert_ne!(places[0], places[1]);
}
