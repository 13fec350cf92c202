//! The forms of providers: what is refused is said, and in the form.

use super::visitor::{Visitor, location};
use crate::world::World;
use domain::TenantId;
use store::directory::Role;

#[tokio::test]
async fn of_two_who_save_a_provider_at_once_the_slower_is_told_in_the_form() {
    let world = World::new().await;
    let mut ann = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let mut bob = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for round in 0..20 {
        let page = ann.get("/providers/mail/edit").await.text;
        let (_, rest) = page.split_once("name=\"version\" value=\"").unwrap();
        let version = rest.split('"').next().unwrap().to_owned();
        let names = (format!("ann {round}"), format!("bob {round}"));
        let form = |name| [("version", version.as_str()), ("name", name), ("enabled", "true")];
        let (anns, bobs) = (form(names.0.as_str()), form(names.1.as_str()));
        let (one, two) = tokio::join!(
            ann.post("/providers/mail/edit", &anns),
            bob.post("/providers/mail/edit", &bobs)
        );
        let mut places = [location(&one), location(&two)];
        places.sort_unstable();
        assert_eq!(places, ["/providers/mail", "/providers/mail/edit"]);
    }
}

#[tokio::test]
async fn a_test_with_too_much_data_or_too_long_an_address_is_not_sent_and_says_why() {
    let world = World::new().await;
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let (data, address) = (
        format!("{{\"text\": \"{}\"}}", "x".repeat(256 << 10)),
        format!("{}@example.com", "x".repeat(600)),
    );
    for (fields, why) in [
        (
            [("to", "ann@example.com"), ("data", data.as_str())],
            "more than 262144 bytes",
        ),
        ([("to", address.as_str()), ("data", "")], "at most 512 characters"),
    ] {
        let answer = operator.post("/providers/mail/test", &fields).await;
        assert_eq!(location(&answer), "/providers/mail");
        let page = operator.get("/providers/mail").await.text;
        assert!(page.contains("Nothing was sent") && page.contains(why), "{page}");
    }
}
