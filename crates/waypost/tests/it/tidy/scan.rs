//! Takes a Rust source apart into code, and the texts in it; comments are dropped.

/// A source file. `code` keeps its line breaks, so that lines can be counted.
#[derive(Debug, Default)]
pub struct Source {
    pub code: String,
    pub strings: Vec<String>,
}

impl Source {
    pub fn read(text: &str) -> Self {
        let mut source = Self::default();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            at = source.step(text, at);
        }
        source
    }

    /// Takes in what starts here, and answers where the next thing starts.
    fn step(&mut self, text: &str, at: usize) -> usize {
        let rest = &text[at..];
        if rest.starts_with("//") {
            return at + rest.find('\n').unwrap_or(rest.len());
        }
        if rest.starts_with("/*") {
            let end = at + rest.find("*/").map_or(rest.len(), |n| n + 2);
            self.keep_lines(&text[at..end]);
            return end;
        }
        if let Some(hashes) = raw(rest, text[..at].chars().next_back()) {
            let open = rest.find('"').unwrap_or(0) + 1;
            let close = format!("\"{}", "#".repeat(hashes));
            let length = rest[open..].find(&close).unwrap_or(rest.len() - open);
            return self.string(text, at + open, at + open + length, close.len());
        }
        if let Some(inside) = rest.strip_prefix('"') {
            let length = end_of_string(inside);
            return self.string(text, at + 1, at + 1 + length, 1);
        }
        // A character, as opposed to a lifetime, closes within a few bytes.
        for quoted in ["'\"'", "'\\\"'", "'\\''", "'\\\\'"] {
            if rest.starts_with(quoted) {
                return at + quoted.len();
            }
        }
        let c = rest.chars().next().unwrap_or(' ');
        self.code.push(c);
        at + c.len_utf8()
    }

    fn string(&mut self, text: &str, start: usize, end: usize, close: usize) -> usize {
        self.keep_lines(&text[start..end]);
        self.strings.push(text[start..end].to_owned());
        self.code.push_str("\"\"");
        (end + close).min(text.len())
    }

    fn keep_lines(&mut self, text: &str) {
        self.code.extend(text.chars().filter(|c| *c == '\n'));
    }
}

/// How many `#` a raw string that starts here has.
fn raw(rest: &str, before: Option<char>) -> Option<usize> {
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let hashes = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let n = hashes.bytes().take_while(|b| *b == b'#').count();
    hashes[n..].starts_with('"').then_some(n)
}

fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (i, b) in text.bytes().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return i,
            _ => {}
        }
    }
    text.len()
}

#[test]
fn texts_and_comments_are_told_from_code() {
    let source = Source::read(
        "let a = \"one // \\\" two\"; // \"three\"\nlet b = r#\"SELECT \"x\"\"#; /* \"c\" */ let c = '\"';\nend",
    );
    assert_eq!(source.strings, ["one // \\\" two", "SELECT \"x\""]);
    assert!(source.code.contains("let b") && source.code.contains("end") && !source.code.contains("three"));
    assert_eq!(source.code.lines().count(), 3);
}
