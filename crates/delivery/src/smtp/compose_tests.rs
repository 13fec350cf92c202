use super::*;
use crate::outside::Outside;
use domain::{Content, SystemClock, Timestamp};
use std::sync::Arc;

fn composed(change: impl FnOnce(&mut Message)) -> String {
    let settings = serde_json::json!({"host": "h", "from": "Wäy <w@example.com>", "replyTo": "r@example.com", "domain": "example.com"});
    let settings = SmtpSettings::read(
        settings.as_object().unwrap(),
        &Arc::new(Outside::new(Arc::new(SystemClock))),
    )
    .unwrap();
    let mut message = Message {
        id: NotificationId::from_key(domain::TenantId::DEFAULT, "k"),
        content: Box::new(Content {
            subject: "Pump 3".into(),
            body: "line\n.dot\r\n..two\n".into(),
            ..Content::default()
        }),
        targets: vec!["secret-recipient@example.com".into()],
        site: None,
        created_at: Timestamp::from_millis(1_767_225_600_000),
        trace: None,
        unsubscribe: None,
    };
    change(&mut message);
    String::from_utf8(compose(&message, &settings)).unwrap()
}

#[test]
fn the_mail_says_what_it_is_and_not_who_got_it() {
    let mail = composed(|_| {});
    let id = NotificationId::from_key(domain::TenantId::DEFAULT, "k");
    for expected in [
        "To: undisclosed-recipients:;\r\n".to_owned(),
        "Subject: Pump 3\r\n".to_owned(),
        "Date: Thu, 1 Jan 2026 00:00:00 +0000\r\n".to_owned(),
        format!("Message-ID: <{id}@example.com>\r\n"),
        "Auto-Submitted: auto-generated\r\n".to_owned(),
        format!("X-Waypost-Notification-Id: {id}\r\n"),
        "Reply-To: <r@example.com>\r\n".to_owned(),
        "<w@example.com>\r\n".to_owned(),
    ] {
        assert!(mail.contains(&expected), "{expected} in {mail}");
    }
    assert!(!mail.contains("secret-recipient"));
}

#[test]
fn a_subject_cannot_add_headers() {
    let mail = composed(|m| m.content.subject = "a\r\nBcc: x@example.com\n\nbody\0".into());
    assert!(!mail.contains("\r\nBcc:"), "{mail}");
    assert!(mail.contains("Subject: a Bcc: x@example.com body\r\n"), "{mail}");
}

#[test]
fn lines_of_dots_stay_inside_the_message() {
    let mail = composed(|_| {});
    assert!(mail.contains("\r\n..dot\r\n...two\r\n"), "{mail}");
    assert!(mail.ends_with("\r\n.\r\n"));
    assert_eq!(mail.matches("\r\n.\r\n").count(), 1);
    let smuggler = composed(|m| m.content.body = "a\r.\r\nMAIL FROM:<x>\n.\nRCPT".into());
    assert_eq!(smuggler.matches("\r\n.\r\n").count(), 1, "{smuggler}");
    assert!(
        !smuggler.replace("\r\n", "").contains(['\r', '\n']),
        "{smuggler:?}"
    );
}

#[test]
fn an_html_body_goes_along_with_the_text() {
    let mail = composed(|m| m.content.body_html = Some("<p>hot</p>".into()));
    assert!(
        mail.contains("multipart/alternative") && mail.contains("text/plain") && mail.contains("<p>hot</p>")
    );
}

#[test]
fn a_mail_with_a_way_out_says_so_as_mail_programs_want_it() {
    let link = "https://waypost.example.com/unsubscribe/abc";
    let mail = composed(|message| message.unsubscribe = Some(link.into()));
    assert!(
        mail.contains(&format!("List-Unsubscribe: <{link}>\r\n")),
        "{mail}"
    );
    assert!(
        mail.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"),
        "{mail}"
    );
    assert!(!composed(|_| ()).contains("List-Unsubscribe"));
}
