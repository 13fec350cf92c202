use super::*;
use domain::{Channel, ProviderId};

fn smallest() -> Content {
    Content {
        body: "b".into(),
        run_id: Some("run-7".into()),
        ..Content::default()
    }
}

fn full() -> Content {
    Content {
        channel: Some(Channel::HomeAssistant),
        provider: Some(ProviderId::new("home")),
        target: Target::Recipients(vec!["a@example.com".into(), "b@example.com".into()]),
        subject: "Boiler".into(),
        body: "93 °C".into(),
        body_html: Some("<p>93 °C</p>".into()),
        type_data: Some(r#"{"service": "notify.phone", "at": 1e2, "a": null}"#.into()),
        rule_id: Some("r-1".into()),
        rule_name: Some("Boiler too hot".into()),
        ..smallest()
    }
}

#[test]
fn the_key_of_a_request_never_changes() {
    let list = Content {
        target: Target::List("ops".into()),
        rule_name: Some("Nightly".into()),
        ..smallest()
    };
    for (content, hashed_text, key) in [
        (
            smallest(),
            r#"{"runId":"run-7","texts":{"body":"b"}}"#,
            "auto:v1:14237b3d3d12f9265677983877860f956d736653d7c57e857068047339a3e8ea",
        ),
        (
            list,
            r#"{"rule":"Nightly","runId":"run-7","target":{"listName":"ops"},"texts":{"body":"b"}}"#,
            "auto:v1:ee0ab3a2a66ca010f829eada8cd26519ef9032c22f26563225428e0ed04ae85d",
        ),
        (
            full(),
            r#"{"data":{"a":null,"at":100,"service":"notify.phone"},"provider":"home","rule":"r-1","runId":"run-7","target":{"to":["a@example.com","b@example.com"]},"texts":{"body":"93 °C","bodyHtml":"<p>93 °C</p>","subject":"Boiler"},"type":"HomeAssistant"}"#,
            "auto:v1:8f722b378299241db065a8f1f57901c8734363c7edc61abf9ecf324d48422222",
        ),
    ] {
        assert_eq!(canonical(&hashed(&content).unwrap()), hashed_text);
        assert_eq!(auto_key(&content).unwrap(), key);
    }
}

#[test]
fn another_run_or_any_other_word_is_another_key_and_no_run_has_none() {
    let keys: std::collections::BTreeSet<_> = [
        full(),
        Content {
            run_id: Some("run-8".into()),
            ..full()
        },
        Content {
            provider: None,
            ..full()
        },
        Content {
            channel: None,
            ..full()
        },
        Content {
            subject: "boiler".into(),
            ..full()
        },
        Content {
            body: "94 °C".into(),
            ..full()
        },
        Content {
            target: Target::Provider,
            ..full()
        },
        Content {
            rule_id: None,
            ..full()
        },
        Content {
            type_data: None,
            ..full()
        },
    ]
    .iter()
    .map(|content| auto_key(content).unwrap())
    .collect();
    assert_eq!(keys.len(), 9);
    assert_eq!(
        auto_key(&Content {
            run_id: None,
            ..full()
        }),
        None
    );
    let spaced = Content {
        type_data: Some(r#"{"a":null,"at":100.0,"service":"notify.phone"}"#.into()),
        ..full()
    };
    assert_eq!(
        auto_key(&spaced),
        auto_key(&full()),
        "how the data is written does not matter"
    );
}
