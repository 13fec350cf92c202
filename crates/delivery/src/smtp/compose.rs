//! Makes the mail. Recipients are in the envelope only: nobody sees who else got it.

use super::{address::Mailbox, settings::SmtpSettings};
use crate::adapter::Message;
use domain::NotificationId;
use mail_builder::{
    MessageBuilder,
    headers::{address::Address, raw::Raw},
};

/// The same over all attempts, so that receivers can tell a repeat.
pub(super) fn message_id(id: NotificationId, domain: &str) -> String {
    format!("{id}@{domain}")
}

/// Headers and body as they go over the wire: dots stuffed, the final dot at the end.
pub(super) fn compose(message: &Message, settings: &SmtpSettings) -> Vec<u8> {
    let mut builder = MessageBuilder::new()
        .from(header_address(&settings.from))
        .header("To", Raw::new("undisclosed-recipients:;"))
        .subject(one_line(&message.content.subject))
        .date(message.created_at.as_millis().div_euclid(1000))
        .message_id(message_id(message.id, &settings.domain))
        .header("Auto-Submitted", Raw::new("auto-generated"))
        .header("X-Waypost-Notification-Id", Raw::new(message.id.to_string()))
        .text_body(unix_lines(&message.content.body));
    if let Some(reply_to) = &settings.reply_to {
        builder = builder.reply_to(header_address(reply_to));
    }
    if let Some(link) = &message.unsubscribe {
        builder = builder
            .header("List-Unsubscribe", Raw::new(format!("<{}>", one_line(link))))
            .header("List-Unsubscribe-Post", Raw::new("List-Unsubscribe=One-Click"));
    }
    if let Some(html) = &message.content.body_html {
        builder = builder.html_body(unix_lines(html));
    }
    let mut plain = Vec::with_capacity(message.content.body.len() + 1024);
    builder.serialize(&mut plain);
    stuffed(&plain)
}

fn header_address(mailbox: &Mailbox) -> Address<'static> {
    Address::new_address(mailbox.name.clone(), mailbox.address.clone())
}

/// Without line ends and other control characters: a subject cannot start a header of its own.
fn one_line(text: &str) -> String {
    let flat: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    flat.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Any kind of line end as `\n`, which the builder turns into what mail wants.
fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A dot at the start of a line is doubled (RFC 5321, 4.5.2).
fn stuffed(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(plain.len() + 64);
    let mut at_line_start = true;
    for byte in plain {
        if *byte == b'.' && at_line_start {
            out.push(b'.');
        }
        out.push(*byte);
        // A bare CR counts too: servers disagree about it, and smuggled mails live off that.
        at_line_start = matches!(byte, b'\n' | b'\r');
    }
    if !out.ends_with(b"\r\n") {
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b".\r\n");
    out
}

#[cfg(test)]
mod tests {
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
            mail.contains("multipart/alternative")
                && mail.contains("text/plain")
                && mail.contains("<p>hot</p>")
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
}
