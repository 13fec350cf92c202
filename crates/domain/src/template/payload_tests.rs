use super::*;

fn read(json: &str) -> Payload {
    Payload::read(json).unwrap()
}

#[test]
fn nested_names_flat_names_and_those_with_underscores_are_the_same_in_any_case() {
    let nested = read(r#"{"guest": {"Phone": "+919876543210"}}"#);
    let flat = read(r#"{"guestPhone": "+919876543210"}"#);
    let column = read(r#"{"guest_phone": "+919876543210"}"#);
    for payload in [nested, flat, column] {
        for name in [
            "guest.Phone",
            "guestPhone",
            "guest_phone",
            "GUEST_PHONE",
            "GUEST.PHONE",
            "guestphone",
            " guest . phone ",
        ] {
            assert_eq!(payload.get(name), Some("+919876543210"), "{name}");
        }
    }
}

#[test]
fn two_numbers_in_a_name_stay_apart() {
    let payload =
        read(r#"{"line_1_0": "a", "line_10": "b", "rooms": [["c"], ["d"]], "rooms10": "e", "É_1": "f"}"#);
    for (name, text) in [
        ("line_1_0", "a"),
        ("line1.0", "a"),
        ("line10", "b"),
        ("rooms.1.0", "d"),
        ("rooms10", "e"),
        ("é1", "f"),
    ] {
        assert_eq!(payload.get(name), Some(text), "{name}");
    }
}

#[test]
fn a_number_is_the_text_it_was_written_as() {
    let payload =
        read(r#"{"price": 10.50, "id": 12345678901234567890, "e": 1E2, "n": -0.0, "ok": true, "no": null}"#);
    for (name, text) in [
        ("price", "10.50"),
        ("id", "12345678901234567890"),
        ("e", "1E2"),
        ("n", "-0.0"),
        ("ok", "true"),
    ] {
        assert_eq!(payload.get(name), Some(text), "{name}");
    }
    assert_eq!(payload.get("no"), None);
    assert!(payload.knows("no") && !payload.knows("nothing"));
}

#[test]
fn lists_are_read_by_place_and_a_list_of_plain_values_as_one_text() {
    let payload =
        read(r#"{"tags": ["a", 2, null], "rooms": [{"name": "one"}, {"name": "two"}], "none": []}"#);
    assert_eq!(payload.get("tags"), Some("a, 2"));
    assert_eq!(payload.get("tags.1"), Some("2"));
    assert_eq!(payload.get("rooms.1.name"), Some("two"));
    assert_eq!(payload.get("rooms"), None);
    assert_eq!(payload.get("none"), Some(""));
}

#[test]
fn the_less_nested_of_two_values_with_one_name_counts() {
    assert_eq!(
        read(r#"{"a": {"b": "deep"}, "aB": "flat"}"#).get("a.b"),
        Some("flat")
    );
    assert_eq!(
        read(r#"{"aB": "flat", "a": {"b": "deep"}}"#).get("a.b"),
        Some("flat")
    );
    assert_eq!(read(r#"{"a": 1, "A": 2}"#).get("a"), Some("2"));
}

#[test]
fn texts_are_read_as_they_are_meant() {
    let payload = read(r#"{"q\"\\": "\u00e9 \ud83d\udd25 \"{{q}}\" \n end\\", "nul": "a\u0000b", "": 1}"#);
    assert_eq!(payload.get("q\"\\"), Some("é 🔥 \"{{q}}\" \n end\\"));
    assert_eq!(payload.get("nul"), Some("ab"));
}

#[test]
fn what_cannot_be_used_is_said_in_words() {
    use PayloadError::{NotAnObject, NotJson, TooDeep, TooManyValues};
    for (json, why) in [
        ("", NotJson { line: 1, column: 0 }),
        ("{\"a\": }", NotJson { line: 1, column: 7 }),
        ("{\"a\":\n \"\\ud83d\"}", NotJson { line: 2, column: 2 }),
        ("[1]", NotAnObject("an array")),
        (" \"text\"", NotAnObject("text")),
        ("12", NotAnObject("a number")),
        ("null", NotAnObject("null")),
        ("true", NotAnObject("true or false")),
    ] {
        assert_eq!(Payload::read(json), Err(why), "{json}");
    }
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = |n: usize| format!("{{\"a\":{}1{}}}", open.repeat(n), close.repeat(n));
        assert_eq!(Payload::read(&deep(200)), Err(TooDeep));
        assert_eq!(Payload::read(&deep(100_000)), Err(TooDeep));
        assert!(Payload::read(&deep(20)).is_ok());
    }
    let many = format!("{{\"a\":[{}1]}}", "1,".repeat(limit::VALUES));
    assert_eq!(Payload::read(&many), Err(TooManyValues));
}

#[test]
fn names_too_long_to_ask_for_take_no_room() {
    let long = "k".repeat(200_000);
    let inner: Vec<String> = (0..1_000).map(|n| format!("\"{n}\":1")).collect();
    let payload = read(&format!("{{\"{long}\": {{{}}}, \"short\": 2}}", inner.join(",")));
    assert_eq!(payload.names().collect::<Vec<_>>(), ["short"]);
}

#[test]
fn a_lookups_values_override_the_payloads() {
    let mut payload = read(r#"{"status": "Pending", "guest": {"name": "Asha"}}"#);
    payload.overlay(read(r#"{"status": "Confirmed"}"#));
    payload.set("guestName", Some("Ravi".into()));
    assert_eq!(payload.get("status"), Some("Confirmed"));
    assert_eq!(payload.get("guest.name"), Some("Ravi"));
}
