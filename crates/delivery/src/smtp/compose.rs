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
#[path = "compose_tests.rs"]
mod tests;
