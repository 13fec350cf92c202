//! Finds the placeholders of a text: `{{name}}`, or `{{name | format}}` for a date of its own format.

use super::limit;

/// A part of a template's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    Placeholder(Placeholder<'a>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placeholder<'a> {
    /// As it stands in the text, with its braces.
    pub whole: &'a str,
    pub name: &'a str,
    /// Behind the bar: `raw`, or a format for a date.
    pub format: Option<&'a str>,
}

/// The pieces of a text in order. What opens and never closes, or names nothing, is text like any other.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(open) = rest[from..].find("{{").map(|at| from + at) {
            if let Some(found) = placeholder(&rest[open..]) {
                if open > 0 {
                    let (text, after) = rest.split_at(open);
                    rest = after;
                    return Some(Piece::Text(text));
                }
                rest = &rest[found.whole.len()..];
                return Some(Piece::Placeholder(found));
            }
            from = open + 1;
        }
        Some(Piece::Text(std::mem::take(&mut rest)))
    })
}

/// The placeholder at the start of this text.
fn placeholder(text: &str) -> Option<Placeholder<'_>> {
    // Bounded, so that a text full of `{{` is not read to its end for each of them.
    let furthest = text.len().min(limit::VALUE_NAME + limit::DATE_FORMAT + 16);
    let window = (0..=furthest).rev().find_map(|end| text.get(2..end))?;
    let end = window.find("}}")?;
    let inside = &window[..end];
    let (name, format) = match inside.split_once('|') {
        Some((name, format)) => (name.trim(), Some(format.trim())),
        None => (inside.trim(), None),
    };
    let fine = !name.is_empty() && name.len() <= limit::VALUE_NAME && !inside.contains(['{', '}', '\n']);
    fine.then(|| Placeholder {
        whole: &text[..2 + end + 2],
        name,
        format,
    })
}

/// The placeholders of a text.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Placeholder(found) => Some(found),
        Piece::Text(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&str> {
        placeholders(text).map(|p| p.name).collect()
    }

    #[test]
    fn placeholders_are_found_and_everything_else_is_text() {
        assert_eq!(
            names("Dear {{guestName}}, {{ guest.Phone }}!"),
            ["guestName", "guest.Phone"]
        );
        assert_eq!(names("{{a}}{{b | %d %B}}"), ["a", "b"]);
        for text in [
            "{{}}", "{{ }}", "{{a", "{a}", "a}}", "{{a\nb}}", "{{a{b}}", "{{|x}}",
        ] {
            assert!(names(text).is_empty(), "{text}");
        }
        assert_eq!(names("{{{a}}}"), ["a"]);
        assert_eq!(names("{{é}}ü{{ö}}"), ["é", "ö"]);
    }

    #[test]
    fn the_pieces_put_together_are_the_text() {
        for text in [
            "",
            "x",
            "{{a}}",
            "x{{a}}y{{ b|raw }}{{",
            "{{{{{{a}}}}",
            "ä{{",
            "{{x{{y}}",
        ] {
            let whole: String = pieces(text)
                .map(|piece| match piece {
                    Piece::Text(text) => text,
                    Piece::Placeholder(found) => found.whole,
                })
                .collect();
            assert_eq!(whole, text);
        }
    }

    #[test]
    fn a_text_of_braces_alone_is_read_quickly() {
        let text = "{{".repeat(limit::BODY / 2);
        assert!(names(&text).is_empty());
    }
}
