//! Reads one reply out of what a mail server has sent so far.
//!
//! Our own reading rather than a crate's: enhanced codes of large providers do not fit a byte (`4.7.500`), and
//! bytes after a reply must stay for the next one.

/// Longer replies are taken for nonsense.
const MAX_REPLY_BYTES: usize = 16 << 10;

/// What the server said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub code: u16,
    /// `5.1.1` of RFC 3463; zeros where the server gave none.
    pub enhanced: [u16; 3],
    /// The text of all lines, without codes.
    pub message: String,
}

pub(super) enum Parsed {
    /// A reply, and how many bytes it took.
    Whole(Reply, usize),
    More,
    /// This is not SMTP.
    Garbled,
}

impl Reply {
    pub fn parse(bytes: &[u8]) -> Parsed {
        let mut reply = Reply {
            code: 0,
            enhanced: [0; 3],
            message: String::new(),
        };
        let mut start = 0;
        loop {
            let rest = &bytes[start..];
            if rest.iter().take(3).any(|b| !b.is_ascii_digit()) || start > MAX_REPLY_BYTES {
                return Parsed::Garbled;
            }
            let Some(end) = rest.iter().position(|b| *b == b'\n') else {
                return if bytes.len() > MAX_REPLY_BYTES {
                    Parsed::Garbled
                } else {
                    Parsed::More
                };
            };
            let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
            let Some(last) = reply.take(line, start == 0) else {
                return Parsed::Garbled;
            };
            start += end + 1;
            if last {
                return Parsed::Whole(reply, start);
            }
        }
    }

    /// Adds one line; `true` if it is the last.
    fn take(&mut self, line: &[u8], first: bool) -> Option<bool> {
        let code = std::str::from_utf8(line.get(..3)?).ok()?.parse().ok()?;
        let last = match line.get(3) {
            None | Some(b' ') => true,
            Some(b'-') => false,
            Some(_) => return None,
        };
        let text = String::from_utf8_lossy(line.get(4..).unwrap_or_default());
        let (enhanced, text) = split_enhanced(&text);
        if first {
            self.code = code;
            self.enhanced = enhanced.unwrap_or_default();
        } else {
            self.message.push('\n');
        }
        self.message.push_str(text);
        Some(last)
    }

    pub fn is_positive(&self) -> bool {
        (200..300).contains(&self.code)
    }
}

/// Takes `5.1.1 ` off the start of a text.
fn split_enhanced(text: &str) -> (Option<[u16; 3]>, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut parts = word.split('.').map(|part| {
        let sound = (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        sound.then(|| part.parse::<u16>().ok()).flatten()
    });
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(Some(class @ (2 | 4 | 5))), Some(Some(subject)), Some(Some(detail)), None) => {
            (Some([class, subject, detail]), rest)
        }
        _ => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &str) -> (Reply, usize) {
        match Reply::parse(bytes.as_bytes()) {
            Parsed::Whole(reply, used) => (reply, used),
            Parsed::More => panic!("{bytes:?} is not whole"),
            Parsed::Garbled => panic!("{bytes:?} is garbled"),
        }
    }

    #[test]
    fn codes_and_text_are_told_apart() {
        for (line, code, enhanced, message) in [
            ("250\r\n", 250, [0, 0, 0], ""),
            ("250 ok\r\n", 250, [0, 0, 0], "ok"),
            ("550 5.1.1 no such user\r\n", 550, [5, 1, 1], "no such user"),
            ("451 4.7.500 Server busy\n", 451, [4, 7, 500], "Server busy"),
            (
                "535-5.7.8 no\r\n535 5.7.8 see there\r\n",
                535,
                [5, 7, 8],
                "no\nsee there",
            ),
            (
                "250-mail\r\n250-8BITMIME\r\n250 SIZE 10\r\n",
                250,
                [0, 0, 0],
                "mail\n8BITMIME\nSIZE 10",
            ),
            ("220 10.0.0.1 ESMTP\r\n", 220, [0, 0, 0], "10.0.0.1 ESMTP"),
            ("250 2.0.0\r\n", 250, [2, 0, 0], ""),
        ] {
            let (reply, used) = whole(line);
            assert_eq!(
                (reply.code, reply.enhanced, reply.message.as_str()),
                (code, enhanced, message)
            );
            assert_eq!(used, line.len());
        }
    }

    #[test]
    fn what_follows_a_reply_is_left_for_the_next() {
        let (_, used) = whole("250 a\r\n354 b\r\n");
        assert_eq!(used, 7);
        for part in ["", "2", "250", "250 a", "250-a\r\n", "250-a\r\n250"] {
            assert!(matches!(Reply::parse(part.as_bytes()), Parsed::More), "{part:?}");
        }
        for nonsense in ["HTTP/1.1", "25x", "250_a\r\n", "250-a\r\nb\r\n"] {
            assert!(
                matches!(Reply::parse(nonsense.as_bytes()), Parsed::Garbled),
                "{nonsense:?}"
            );
        }
        assert!(matches!(Reply::parse(&[b'2'; 20_000]), Parsed::Garbled));
    }
}
