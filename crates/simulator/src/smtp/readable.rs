//! A mail as its reader sees it: subject and plain text, decoded.

use super::Mail;
use base64::{Engine, engine::general_purpose::STANDARD};

impl Mail {
    /// The subject, with its encoded words decoded.
    pub fn subject(&self) -> String {
        decoded_words(&self.header("Subject").unwrap_or_default())
    }

    /// The first part that is plain text; the whole body where there are no parts.
    pub fn plain_text(&self) -> String {
        let text = self.text();
        let (head, body) = split(&text);
        let boundary = parameter(&field(head, "content-type").unwrap_or_default(), "boundary");
        let Some(boundary) = boundary else {
            return decoded(head, body);
        };
        let edge = format!("--{boundary}");
        let parts = body.split(&edge).map(split);
        let mut plain = parts.filter(|(head, _)| {
            field(head, "content-type").is_some_and(|kind| kind.to_lowercase().contains("text/plain"))
        });
        plain
            .next()
            .map(|(head, body)| decoded(head, body))
            .unwrap_or_default()
    }
}

/// Head and body.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches(['\r', '\n']);
    let at = text
        .find("\r\n\r\n")
        .map(|at| (at, 4))
        .or_else(|| Some((text.find("\n\n")?, 2)));
    match at {
        Some((at, gap)) => (&text[..at], &text[at + gap..]),
        None => (text, ""),
    }
}

/// A header of a part, unfolded.
fn field(head: &str, name: &str) -> Option<String> {
    let unfolded = head
        .replace("\r\n", "\n")
        .replace("\n ", " ")
        .replace("\n\t", " ");
    unfolded.lines().find_map(|line| {
        let (given, value) = line.split_once(':')?;
        given.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

fn parameter(value: &str, name: &str) -> Option<String> {
    let found = value
        .split(';')
        .find_map(|part| part.trim().strip_prefix(name)?.trim().strip_prefix('='));
    found.map(|text| text.trim().trim_matches('"').to_owned())
}

fn decoded(head: &str, body: &str) -> String {
    let encoding = field(head, "content-transfer-encoding").unwrap_or_default();
    let bytes = match encoding.to_lowercase().as_str() {
        "quoted-printable" => quoted_printable(body),
        "base64" => {
            let packed: String = body.split_whitespace().collect();
            STANDARD.decode(packed).unwrap_or_default()
        }
        _ => body.as_bytes().to_vec(),
    };
    String::from_utf8_lossy(&bytes).trim_end().to_owned()
}

fn quoted_printable(text: &str) -> Vec<u8> {
    let joined = text.replace("=\r\n", "").replace("=\n", "");
    hexes(&joined, b'=')
}

/// Bytes with the escaped ones in their places.
fn hexes(text: &str, escape: u8) -> Vec<u8> {
    let (mut bytes, mut rest) = (vec![], text.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let escaped = digits.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match escaped.filter(|_| *first == escape) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// `=?utf-8?Q?Tank_4?=` is "Tank 4".
fn decoded_words(text: &str) -> String {
    let mut out = String::new();
    // Blanks between two encoded words belong to neither.
    let text = text.replace("?= =?", "?==?");
    let mut rest = text.as_str();
    while let Some((before, encoded)) = rest.split_once("=?") {
        out.push_str(before);
        let mut parts = encoded.splitn(4, '?');
        let (_, way, payload, after) = (parts.next(), parts.next(), parts.next(), parts.next());
        let (Some(way), Some(payload), Some(after)) = (way, payload, after.and_then(|a| a.strip_prefix('=')))
        else {
            out.push_str("=?");
            rest = encoded;
            continue;
        };
        let bytes = match way.to_lowercase().as_str() {
            "b" => STANDARD.decode(payload).unwrap_or_default(),
            _ => hexes(&payload.replace('_', " "), b'='),
        };
        out.push_str(&String::from_utf8_lossy(&bytes));
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn mail(data: &'static str) -> Mail {
        Mail {
            sender: String::new(),
            recipients: vec![],
            data: Bytes::from_static(data.as_bytes()),
            message_id: None,
            notification_id: None,
            connection: 1,
            over_tls: false,
            authenticated_as: None,
            at: std::time::Instant::now(),
        }
    }

    #[test]
    fn a_mail_reads_as_it_was_written_however_it_was_packed() {
        let plain = mail("Subject: Tank 4\r\n\r\nLevel 98 %\r\n");
        assert_eq!(
            (plain.subject().as_str(), plain.plain_text().as_str()),
            ("Tank 4", "Level 98 %")
        );
        let packed = mail(
            "Subject: =?utf-8?Q?Tank_=C3=A4?= =?utf-8?B?w7Y=?=\r\nContent-Type: multipart/alternative;\r\n boundary=\"x\"\r\n\r\n--x\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n98=C2=B0 and =\r\nrising\r\n--x\r\nContent-Type: text/html\r\n\r\n<b>no</b>\r\n--x--\r\n",
        );
        assert_eq!(
            (packed.subject().as_str(), packed.plain_text().as_str()),
            ("Tank äö", "98° and rising")
        );
    }
}
