//! Our own sentences with `commands` and `names` in them, set apart from the words around them.

use askama::filters::HtmlSafe;
use std::fmt;

/// What stands between backticks is shown as code. The text may hold names from outside: all of it is escaped.
#[derive(Debug, Clone, Copy)]
pub struct Marked<'a>(pub &'a str);

impl HtmlSafe for Marked<'_> {}

impl fmt::Display for Marked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pieces: Vec<_> = self.0.split('`').collect();
        for (place, piece) in pieces.iter().enumerate() {
            let code = place % 2 == 1;
            // One that opens nothing is a character like others.
            let closed = place + 1 < pieces.len();
            match (code, closed) {
                (true, true) => {
                    f.write_str("<code>")?;
                    escaped(f, piece)?;
                    f.write_str("</code>")?;
                }
                (true, false) => {
                    f.write_str("`")?;
                    escaped(f, piece)?;
                }
                (false, _) => escaped(f, piece)?,
            }
        }
        Ok(())
    }
}

fn escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for letter in text.chars() {
        match letter {
            '&' => f.write_str("&amp;")?,
            '<' => f.write_str("&lt;")?,
            '>' => f.write_str("&gt;")?,
            '"' => f.write_str("&quot;")?,
            '\'' => f.write_str("&#39;")?,
            letter => write!(f, "{letter}")?,
        }
    }
    Ok(())
}

/// For templates.
pub fn marked(text: &str) -> Marked<'_> {
    Marked(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code_and_nothing_is_markup() {
        assert_eq!(
            marked("Correct it (`waypost provider set a<b NAME=VALUE`); \"then\" it goes.").to_string(),
            "Correct it (<code>waypost provider set a&lt;b NAME=VALUE</code>); &quot;then&quot; it goes."
        );
        assert_eq!(marked("one ` alone").to_string(), "one ` alone");
        assert_eq!(
            marked("`<script>` and `more").to_string(),
            "<code>&lt;script&gt;</code> and `more"
        );
    }
}
