//! Messages without a text: refused where they come in, by every kind whose service would refuse them later.

use crate::{
    answers::{fixed_adapter, services},
    world::*,
};
use delivery::{Captured, Registry};
use domain::Content;
use serde_json::{Value, json};
use simulator::{HttpOptions, HttpReceiver};
use std::sync::Arc;

/// The fields that a kind cannot send of a content without a text.
fn refused(kind: &str, change: impl FnOnce(&mut Content)) -> Vec<String> {
    let registry = Registry::standard(Arc::new(outside()), Captured::default());
    let mut content = Content {
        subject: "  ".into(),
        body: " \n".into(),
        ..Content::default()
    };
    change(&mut content);
    let problems = registry.get(kind).unwrap().problems(&content);
    problems.into_iter().map(|problem| problem.field).collect()
}

fn with_data(data: Value) -> impl FnOnce(&mut Content) {
    move |content| content.type_data = Some(data.to_string())
}

#[test]
fn a_blank_text_is_refused_where_it_comes_in_unless_something_else_is_shown() {
    for kind in [
        "twilio", "meta", "interakt", "telegram", "slack", "discord", "pushover",
    ] {
        assert_eq!(refused(kind, |_| {}), ["body"], "{kind}");
        for filled in ["subject", "body"] {
            let text = |content: &mut Content| match filled {
                "subject" => content.subject = "Hot".into(),
                _ => content.body = "Hot".into(),
            };
            assert!(refused(kind, text).is_empty(), "{kind}: the {filled} is there");
        }
    }
    let html = |content: &mut Content| content.body_html = Some("<p>Hot</p>".into());
    let template = || with_data(json!({"template": {"name": "hot"}}));
    for kind in ["telegram", "slack", "discord", "pushover"] {
        assert!(refused(kind, html).is_empty(), "{kind} shows HTML");
    }
    for kind in ["meta", "interakt"] {
        assert!(refused(kind, template()).is_empty(), "{kind} sends the template");
        assert_eq!(refused(kind, html), ["body"], "{kind} sends the plain text");
    }
    let body_is_html = |content: &mut Content| {
        html(content);
        with_data(json!({"html": true}))(content);
    };
    assert_eq!(refused("pushover", body_is_html), ["body"]);
    assert_eq!(refused("twilio", template()), ["body"], "it has no templates");
    assert!(refused("slack", with_data(json!({"blocks": [{"type": "divider"}]}))).is_empty());
    assert!(refused("discord", with_data(json!({"embeds": [{"title": "Hot"}]}))).is_empty());
}

#[tokio::test]
async fn of_a_message_with_a_blank_subject_telegram_makes_nothing_bold() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let all = services();
    let telegram = all.iter().find(|service| service.kind == "telegram").unwrap();
    let adapter = fixed_adapter("telegram", telegram.settings_at(&receiver));
    let mut message = telegram.message(&telegram.to());
    for (subject, bold) in [("Pump 3", json!(6)), ("   ", Value::Null), ("", Value::Null)] {
        message.content.subject = subject.into();
        assert_delivered(&adapter.deliver(&message, long_attempt()).await);
        let requests = receiver.requests();
        let asked = requests.last().unwrap().json();
        assert_eq!(asked["entities"][0]["length"], bold, "{subject:?}: {asked}");
    }
}
