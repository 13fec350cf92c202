use super::*;

fn message<'a>(entity: &'a str, event_type: &'a str) -> MessageOf<'a> {
    MessageOf {
        tenant: TenantId::DEFAULT,
        entity_type: "booking",
        entity_id: entity,
        event_type,
        event: EventId(Uuid::from_u128(7)),
        channel: Channel::WhatsApp,
        template: "7",
    }
}

#[test]
fn the_same_booking_confirmed_twice_has_one_key_and_an_alarm_has_one_each_time() {
    let first = message("12345", "booking.confirmed");
    let again = MessageOf {
        event: EventId(Uuid::from_u128(8)),
        ..first
    };
    assert_eq!(first.key(Dedupe::Entity), again.key(Dedupe::Entity));
    assert_eq!(first.key(Dedupe::Entity).1, "12345:booking.confirmed:WhatsApp:7");
    assert_ne!(first.key(Dedupe::Event).0, again.key(Dedupe::Event).0);
}

#[test]
fn a_colon_in_an_entitys_id_meets_nobody_elses_key() {
    let one = message("a:b", "c");
    let other = message("a", "b:c");
    assert_eq!(one.key(Dedupe::Entity).1, other.key(Dedupe::Entity).1);
    assert_ne!(one.key(Dedupe::Entity).0, other.key(Dedupe::Entity).0);
    let text = one.key(Dedupe::Entity).1;
    assert_ne!(
        one.key(Dedupe::Entity).0,
        NotificationId::from_key(one.tenant, &text)
    );
}

#[test]
fn a_request_of_a_person_has_a_key_of_its_own_and_asked_twice_it_is_one() {
    let message = message("12345", "booking.confirmed");
    let (id, key) = message.manual_key("r1");
    assert_eq!(key, "manual:12345:WhatsApp:7:r1");
    assert_eq!(message.manual_key("r1").0, id);
    assert_ne!(message.manual_key("r2").0, id);
    assert_ne!(message.key(Dedupe::Entity).0, id);
}

#[test]
fn templates_of_one_name_of_two_event_types_are_two_messages_of_one_request() {
    let confirmed = message("12345", "booking.confirmed").manual_key("r1");
    let cancelled = message("12345", "booking.cancelled").manual_key("r1");
    assert_ne!(confirmed.0, cancelled.0);
}

#[test]
fn a_long_key_is_cut_for_people_and_whole_for_the_id() {
    let (one, two) = ("x".repeat(254), "x".repeat(253) + "y");
    let (one, two) = (
        message(&one, "t").key(Dedupe::Entity),
        message(&two, "t").key(Dedupe::Entity),
    );
    assert!(one.1.chars().count() <= limit::KEY);
    assert_ne!(one.0, two.0);
}
