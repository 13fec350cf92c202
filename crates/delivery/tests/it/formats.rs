//! What becomes of plain text, Markdown and HTML on its way to each service.

use crate::{
    answers::{fixed_adapter, services},
    world::*,
};
use serde_json::{Value, json};
use simulator::{HttpOptions, HttpReceiver, http::Received};

const PLAIN: &str = "a*b* <c> & _d_\n# e";
const HTML: &str = "<p>a <b>b</b> &amp; <a href=\"https://x.example/y_z\">c*</a></p>";

/// The text that a service is sent, wherever it stands, and what it is to be read as.
fn text(kind: &str, request: &Received) -> (String, Value) {
    let json = request.json();
    let form = |field: &str| {
        let mut fields = url::form_urlencoded::parse(&request.body);
        fields
            .find(|(name, _)| name == field)
            .map(|(_, value)| value.into_owned())
    };
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match kind {
        "discord" => (word(&json["content"]), Value::Null),
        "slack" => (word(&json["text"]), Value::Null),
        "telegram" => (word(&json["text"]), json["parse_mode"].clone()),
        "teams" => {
            let blocks = json["attachments"][0]["content"]["body"]
                .as_array()
                .unwrap()
                .clone();
            let texts = blocks.iter().map(|block| word(&block["text"]));
            (texts.collect::<Vec<_>>().join("\n"), Value::Null)
        }
        "apprise" => (word(&json["body"]), json["format"].clone()),
        "pushover" => (form("message").unwrap_or_default(), json!(form("html"))),
        "ntfy" => (word(&json["message"]), json["markdown"].clone()),
        "pushbullet" => (word(&json["body"]), Value::Null),
        "homeassistant" => (word(&json["message"]), Value::Null),
        _ => (form("Body").unwrap_or_default(), Value::Null),
    }
}

struct Sent<'a> {
    kind: &'a str,
    subject: &'a str,
    body: &'a str,
    html: Option<&'a str>,
    data: Value,
}

impl Sent<'_> {
    async fn text(&self, receiver: &HttpReceiver) -> (String, Value) {
        let all = services();
        let service = all.iter().find(|service| service.kind == self.kind).unwrap();
        let to: Vec<_> = service.to.as_deref().into_iter().collect();
        let mut message = service.message(&to);
        message.content.subject = self.subject.into();
        message.content.body = self.body.into();
        message.content.body_html = self.html.map(str::to_owned);
        message.content.type_data = Some(self.data.to_string());
        let adapter = fixed_adapter(self.kind, service.settings_at(receiver));
        assert_delivered(&adapter.deliver(&message, long_attempt()).await);
        text(self.kind, receiver.requests().last().unwrap())
    }
}

#[tokio::test]
async fn plain_text_is_shown_as_it_was_written_by_every_service() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    for (kind, shown, read_as) in [
        ("discord", "a\\*b\\* \\<c> & \\_d\\_\n\\# e", Value::Null),
        ("slack", "a*b* &lt;c&gt; &amp; _d_\n# e", Value::Null),
        ("teams", "a\\*b\\* <c> & \\_d\\_\n\\# e", Value::Null),
        ("telegram", PLAIN, Value::Null),
        ("pushover", PLAIN, Value::Null),
        ("ntfy", PLAIN, Value::Null),
        ("apprise", PLAIN, json!("text")),
        ("pushbullet", PLAIN, Value::Null),
        ("homeassistant", PLAIN, Value::Null),
        ("twilio", PLAIN, Value::Null),
    ] {
        let sent = Sent {
            kind,
            subject: "",
            body: PLAIN,
            html: None,
            data: json!({}),
        };
        assert_eq!(sent.text(&receiver).await, (shown.to_owned(), read_as), "{kind}");
    }
}

#[tokio::test]
async fn html_becomes_what_each_service_shows_and_plain_text_where_it_shows_none() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let tags = "a <b>b</b> &amp; <a href=\"https://x.example/y_z\">c*</a>";
    let markdown = "a **b** & [c\\*](https://x.example/y_z)";
    for (kind, shown, read_as) in [
        ("discord", markdown, Value::Null),
        ("teams", markdown, Value::Null),
        ("slack", "a *b* &amp; <https://x.example/y_z|c*>", Value::Null),
        ("telegram", tags, json!("HTML")),
        ("pushover", tags, json!("1")),
        ("apprise", HTML, json!("html")),
        ("ntfy", PLAIN, Value::Null),
        ("pushbullet", PLAIN, Value::Null),
        ("homeassistant", PLAIN, Value::Null),
        ("twilio", PLAIN, Value::Null),
    ] {
        let sent = Sent {
            kind,
            subject: "",
            body: PLAIN,
            html: Some(HTML),
            data: json!({}),
        };
        assert_eq!(sent.text(&receiver).await, (shown.to_owned(), read_as), "{kind}");
    }
}

#[tokio::test]
async fn markup_that_a_message_says_it_is_goes_out_as_it_is() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    for (kind, data, read_as) in [
        ("discord", json!({"markdown": true}), Value::Null),
        ("teams", json!({"markdown": true}), Value::Null),
        ("ntfy", json!({"markdown": true}), json!(true)),
        ("telegram", json!({"parseMode": "HTML"}), json!("HTML")),
        ("pushover", json!({"html": true}), json!("1")),
        ("apprise", json!({"format": "markdown"}), json!("markdown")),
    ] {
        let sent = Sent {
            kind,
            subject: "",
            body: "**a** <b>c</b>",
            html: Some(HTML),
            data,
        };
        let sent = sent.text(&receiver).await;
        assert_eq!(sent, ("**a** <b>c</b>".to_owned(), read_as), "{kind}");
    }
}

#[tokio::test]
async fn a_title_stands_above_markup_too_and_is_none_itself() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let title = "A < B & c_d.";
    for (mode, shown) in [
        ("HTML", "<b>A &lt; B &amp; c_d.</b>\nbody"),
        ("MarkdownV2", "*A < B & c\\_d\\.*\nbody"),
        ("markdown", "A < B & c\\_d.\nbody"),
    ] {
        let sent = Sent {
            kind: "telegram",
            subject: title,
            body: "body",
            html: None,
            data: json!({"parseMode": mode}),
        };
        let (text, read_as) = sent.text(&receiver).await;
        assert_eq!(text, shown, "{mode}");
        assert!(read_as.as_str().unwrap().eq_ignore_ascii_case(mode));
    }
    for (kind, shown) in [
        ("discord", "**A \\< B & c\\_d.**\nbody"),
        ("slack", "*A &lt; B &amp; c_d.*\nbody"),
        ("teams", "A < B & c_d.\nbody"),
    ] {
        let sent = Sent {
            kind,
            subject: title,
            body: "body",
            html: None,
            data: json!({}),
        };
        assert_eq!(sent.text(&receiver).await.0, shown, "{kind}");
    }
}

#[tokio::test]
async fn markup_that_is_too_long_goes_out_as_the_plain_text_it_is_and_html_is_cut_between_its_tags() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let long = "<b>hot</b> ".repeat(2_000);
    let marked_up = |html: bool| Sent {
        kind: "telegram",
        subject: "Pump",
        body: &long,
        html: html.then_some(long.as_str()),
        data: if html {
            json!({})
        } else {
            json!({"parseMode": "HTML"})
        },
    };
    let (plain, read_as) = marked_up(false).text(&receiver).await;
    assert_eq!(read_as, Value::Null);
    assert!(plain.starts_with("Pump\n<b>hot</b> ") && plain.ends_with("[cut: too long for this service]"));
    let (cut, read_as) = marked_up(true).text(&receiver).await;
    assert_eq!(read_as, json!("HTML"));
    assert!(cut.starts_with("<b>Pump</b>\n<b>hot</b> "), "{cut}");
    assert_eq!(cut.matches("<b>").count(), cut.matches("</b>").count());
    assert!(cut.ends_with("[cut: too long for this service]") && cut.len() <= 4096);
}

#[tokio::test]
async fn a_card_with_as_many_buttons_as_it_may_have_still_fits() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let action = json!({"title": "Open", "url": format!("https://a.example/{}", "x".repeat(900))});
    let sent = Sent {
        kind: "teams",
        subject: &"\u{1}*".repeat(2_000),
        body: &"\u{1}*".repeat(20_000),
        html: None,
        data: json!({"actions": vec![action; 10]}),
    };
    sent.text(&receiver).await;
    let size = receiver.requests().last().unwrap().body.len();
    assert!(size <= 25_000, "{size}");
}
