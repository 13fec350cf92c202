//! Mail addresses as they go into commands and headers. What is not one never reaches a command line.

/// One address, with a name for headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mailbox {
    pub name: Option<String>,
    /// As it goes into commands: the domain in ASCII form.
    pub address: String,
}

impl Mailbox {
    /// Reads `a@example.com` or `Name <a@example.com>`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (name, address) = match text.strip_suffix('>').and_then(|t| t.rsplit_once('<')) {
            Some((name, address)) => (name.trim().trim_matches('"').trim(), address),
            None => ("", text),
        };
        if name.contains(|c: char| c.is_control()) {
            return None;
        }
        Some(Self {
            name: (!name.is_empty()).then(|| name.to_owned()),
            address: envelope_form(address)?,
        })
    }

    /// What is behind the `@`, in ASCII form.
    pub fn domain(&self) -> &str {
        self.address.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// Whether the far end must know SMTPUTF8 to take it.
    pub fn needs_utf8(&self) -> bool {
        !self.address.is_ascii()
    }
}

/// The address with its domain in ASCII form; `None` if a command could not carry it safely.
fn envelope_form(address: &str) -> Option<String> {
    let (local, domain) = domain::address::mailbox(address)?;
    if domain.is_ascii() {
        return Some(address.to_owned());
    }
    let url = url::Url::parse(&format!("http://{domain}/")).ok()?;
    Some(format!("{local}@{}", url.host_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_a_name() {
        for (text, name, address) in [
            ("a@example.com", None, "a@example.com"),
            ("  Waypost <a@example.com>", Some("Waypost"), "a@example.com"),
            (
                "\"Way, post\" <a@example.com>",
                Some("Way, post"),
                "a@example.com",
            ),
            ("a@bücher.example", None, "a@xn--bcher-kva.example"),
            ("jörg@example.com", None, "jörg@example.com"),
            ("o'neil+x@[127.0.0.1]", None, "o'neil+x@[127.0.0.1]"),
        ] {
            let parsed = Mailbox::parse(text).unwrap();
            assert_eq!((parsed.name.as_deref(), parsed.address.as_str()), (name, address));
        }
    }

    #[test]
    fn what_could_break_out_of_a_command_is_no_address() {
        for bad in [
            "",
            "nobody",
            "@example.com",
            "a@",
            "a b@example.com",
            "a@exa mple.com",
            "a@example.com\r\nRSET",
            "a@example.com> SIZE=1",
            "a@b@example.com",
            "<a@example.com",
            "a@.com",
            "a@example.com\0",
            "a,b@example.com",
        ] {
            assert_eq!(Mailbox::parse(bad), None, "{bad:?}");
        }
    }
}
