//! What a configuration key is called, takes and means: one table per section, used for errors, for `config show`
//! and for `config init`, so that none of them can disagree with another.

/// One key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// With its section: `outbox.lease`.
    pub name: &'static str,
    /// What it takes, to follow the word "takes".
    pub takes: &'static str,
    /// What it is for, in a sentence or two.
    pub help: &'static str,
    /// How its value may be shown.
    pub shown: Shown,
    /// An example for keys that have no default.
    pub example: &'static str,
}

/// How much of a value may be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Whole,
    /// A URL that may have a password in it.
    WithoutPassword,
    Never,
}

pub const MASK: &str = "•••";

impl Key {
    pub const fn new(name: &'static str, takes: &'static str, help: &'static str) -> Self {
        Self {
            name,
            takes,
            help,
            shown: Shown::Whole,
            example: "",
        }
    }

    pub const fn secret(mut self) -> Self {
        self.shown = Shown::Never;
        self
    }

    pub const fn url(mut self) -> Self {
        self.shown = Shown::WithoutPassword;
        self
    }

    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    /// The section and the name inside it.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }

    /// The value as it may be printed.
    pub fn mask(&self, value: &str) -> String {
        match self.shown {
            Shown::Whole => value.to_owned(),
            Shown::WithoutPassword => without_password(value),
            Shown::Never => MASK.to_owned(),
        }
    }
}

pub const PREFIX: &str = "WAYPOST_";

/// The environment variable that sets the key of this name.
pub fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('.', "__").to_uppercase())
}

/// A database URL with its password replaced, wherever a URL can carry one.
pub fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(s, r)| (s, r));
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user
                .split_once(':')
                .map_or(user.to_owned(), |(name, _)| format!("{name}:{MASK}"));
            format!("{user}@{host}")
        }
        None => authority.to_owned(),
    };
    let path = match path.split_once('?') {
        Some((path, query)) => {
            let masked = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}={MASK}"),
                _ => pair.to_owned(),
            });
            format!("{path}?{}", masked.collect::<Vec<_>>().join("&"))
        }
        None => path.to_owned(),
    };
    match scheme {
        "" => format!("{authority}{path}"),
        _ => format!("{scheme}://{authority}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_never_shown() {
        let cases = [
            ("sqlite://data/waypost.db", "sqlite://data/waypost.db"),
            ("postgres://u:p%40ss@h:5432/db", "postgres://u:•••@h:5432/db"),
            (
                "postgres://u:a@b@h1,h2/db?sslmode=require",
                "postgres://u:•••@h1,h2/db?sslmode=require",
            ),
            (
                "postgres://h/db?user=u&password=x",
                "postgres://h/db?user=u&password=•••",
            ),
            ("postgres://u@h/db", "postgres://u@h/db"),
        ];
        for (url, shown) in cases {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn a_key_knows_its_variable() {
        assert_eq!(variable("outbox.lease"), "WAYPOST_OUTBOX__LEASE");
    }
}
