use super::*;
use crate::template::TemplateScope;

fn variant(language: &str, scope: Option<(&str, &str)>) -> TemplateIdentity {
    TemplateIdentity {
        event_type: "booking.confirmed".into(),
        channel: Channel::Email,
        name: "default".into(),
        language: Some(language.to_owned()).filter(|l| !l.is_empty()),
        scope: scope.map(|(scope_type, scope_id)| TemplateScope {
            scope_type: scope_type.into(),
            scope_id: scope_id.into(),
        }),
    }
}

#[test]
fn the_most_specific_scope_comes_first_then_language_base_language_and_default() {
    let values = Payload::read(r#"{"listing": {"id": 10}, "ownerId": "7"}"#).unwrap();
    let listing = Some(("listing", "10"));
    let elsewhere = Some(("listing", "11"));
    let all = |with: &[(&str, Option<(&str, &str)>)]| -> Vec<_> {
        with.iter().map(|(l, s)| variant(l, *s)).collect()
    };
    for (variants, language, chosen) in [
        (
            all(&[("", None), ("en", None), ("en-IN", None)]),
            Some("en-in"),
            Some(2),
        ),
        (
            all(&[("", None), ("en", None), ("en-IN", None)]),
            Some("en-GB"),
            Some(1),
        ),
        (all(&[("", None), ("en", None)]), Some("hi"), Some(0)),
        (all(&[("", None), ("en", None)]), None, Some(0)),
        (all(&[("en", None), ("", listing)]), Some("en"), Some(1)),
        (all(&[("en", None), ("hi", listing)]), Some("en"), Some(0)),
        (all(&[("", None), ("", elsewhere)]), None, Some(0)),
        (all(&[("", elsewhere)]), None, None),
        (all(&[("hi", None), ("de", None)]), Some("en"), Some(1)),
        (all(&[("", Some(("owner", "7"))), ("", listing)]), None, Some(1)),
        (all(&[("", None)]), Some("not a language"), Some(0)),
    ] {
        let found = choose(&variants, &values, language);
        assert_eq!(found, chosen.map(|i| &variants[i]), "{variants:?} {language:?}");
    }
}

#[test]
fn every_template_of_an_event_gives_one_variant() {
    let sms = TemplateIdentity {
        channel: Channel::Sms,
        ..variant("", None)
    };
    let second = TemplateIdentity {
        name: "reminder".into(),
        ..variant("en", None)
    };
    let variants = [
        sms.clone(),
        variant("", None),
        variant("en", None),
        second.clone(),
    ];
    let found = choose_all(&variants, &Payload::default(), Some("en"));
    assert_eq!(found, [&variants[2], &second, &sms]);
}
