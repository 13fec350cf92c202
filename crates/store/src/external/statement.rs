//! Telling one statement from two, and a write from meddling with the session, without understanding SQL.

/// Whose strings and comments it is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Postgres,
    Sqlite,
}

/// These leave something behind on a connection that others use after us, or reach outside the database.
const REFUSED: [&str; 22] = [
    "begin",
    "start",
    "commit",
    "end",
    "rollback",
    "abort",
    "savepoint",
    "release",
    "set",
    "reset",
    "discard",
    "prepare",
    "execute",
    "deallocate",
    "listen",
    "unlisten",
    "copy",
    "lock",
    "attach",
    "detach",
    "pragma",
    "vacuum",
];

pub(super) fn check(dialect: Dialect, statement: &str) -> Result<(), String> {
    let mut scan = Scan {
        dialect,
        text: statement.as_bytes(),
        at: 0,
    };
    let first = scan.next_code();
    let Some(start) = first else {
        return Err("is empty".into());
    };
    if statement.as_bytes().contains(&0) {
        return Err("must not contain a NUL character".into());
    }
    let word: String = statement[start..]
        .chars()
        .take_while(|c| c.is_ascii_alphabetic())
        .collect::<String>()
        .to_ascii_lowercase();
    if REFUSED.contains(&word.as_str()) {
        return Err(format!(
            "must be a write; {} is not run here, each statement is a transaction of its own",
            word.to_uppercase()
        ));
    }
    scan.at = start;
    while let Some(at) = scan.next_code() {
        if scan.text[at] == b';' {
            scan.at = at + 1;
            return match scan.next_code() {
                None => Ok(()),
                Some(_) => Err("holds more than one command; send them one by one".into()),
            };
        }
        scan.at = scan.after_token(at)?;
    }
    Ok(())
}

struct Scan<'a> {
    dialect: Dialect,
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    /// The next byte that is neither space nor comment; `at` moves there.
    fn next_code(&mut self) -> Option<usize> {
        loop {
            let rest = self.text.get(self.at..)?;
            match rest {
                [] => return None,
                [b'-', b'-', ..] => {
                    self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', ..] => self.at = self.after_comment(),
                [b, ..] if b.is_ascii_whitespace() => self.at += 1,
                _ => return Some(self.at),
            }
        }
    }

    /// PostgreSQL's comments nest, SQLite's do not; one that does not end reaches to the end.
    fn after_comment(&self) -> usize {
        let mut depth = 0;
        let mut at = self.at;
        while at < self.text.len() {
            match &self.text[at..] {
                [b'/', b'*', ..] if depth == 0 || self.dialect == Dialect::Postgres => {
                    depth += 1;
                    at += 2;
                }
                [b'*', b'/', ..] => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return at;
                    }
                }
                _ => at += 1,
            }
        }
        at
    }

    /// Where what starts here ends: a quoted piece as a whole, anything else byte by byte.
    fn after_token(&self, at: usize) -> Result<usize, String> {
        let escapes = self.dialect == Dialect::Postgres && self.is_escape_string(at);
        match (self.dialect, self.text[at]) {
            (_, quote @ (b'\'' | b'"')) => self.after_quoted(at, quote, escapes),
            (Dialect::Sqlite, b'`') => self.after_quoted(at, b'`', false),
            (Dialect::Sqlite, b'[') => self.after_quoted(at, b']', false),
            (Dialect::Postgres, b'$') => self.after_dollar(at),
            _ => Ok(at + 1),
        }
    }

    /// `E'…'`, where a backslash hides the quote.
    fn is_escape_string(&self, at: usize) -> bool {
        let word = |i: usize| {
            self.text
                .get(i)
                .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
        };
        self.text[at] == b'\''
            && at > 0
            && matches!(self.text[at - 1], b'e' | b'E')
            && (at < 2 || !word(at - 2))
    }

    fn after_quoted(&self, at: usize, quote: u8, escapes: bool) -> Result<usize, String> {
        let mut i = at + 1;
        while i < self.text.len() {
            match self.text[i] {
                b'\\' if escapes => i += 2,
                // A doubled quote is one inside.
                b if b == quote && self.text.get(i + 1) == Some(&quote) => i += 2,
                b if b == quote => return Ok(i + 1),
                _ => i += 1,
            }
        }
        Err("has a quote that does not end".into())
    }

    /// `$$…$$`, `$tag$…$tag$`; `$1` is a parameter.
    fn after_dollar(&self, at: usize) -> Result<usize, String> {
        let rest = &self.text[at + 1..];
        let tag = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let numbered = rest.first().is_some_and(u8::is_ascii_digit);
        let within_word = at > 0 && (self.text[at - 1].is_ascii_alphanumeric() || self.text[at - 1] == b'_');
        if numbered || within_word || rest.get(tag) != Some(&b'$') {
            return Ok(at + 1);
        }
        let delimiter = &self.text[at..at + tag + 2];
        let body = at + delimiter.len();
        self.text[body..]
            .windows(delimiter.len())
            .position(|window| window == delimiter)
            .map(|found| body + found + delimiter.len())
            .ok_or_else(|| "has a dollar quote that does not end".into())
    }
}
