//! Writing CSV (RFC 4180) that a spreadsheet can open without being tricked by what senders wrote.

use std::fmt::Write;

/// What stands in a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Ours: ids, times, numbers.
    Plain(String),
    /// What somebody else chose.
    Text(String),
}

impl Cell {
    pub fn plain(value: impl std::fmt::Display) -> Self {
        Self::Plain(value.to_string())
    }

    pub fn plain_or_empty(value: Option<impl std::fmt::Display>) -> Self {
        value.map_or_else(|| Self::Plain(String::new()), Self::plain)
    }

    pub fn text(value: impl std::fmt::Display) -> Self {
        Self::Text(value.to_string())
    }

    pub fn text_or_empty(value: Option<impl std::fmt::Display>) -> Self {
        value.map_or_else(|| Self::Plain(String::new()), Self::text)
    }
}

/// A line under construction.
#[derive(Debug, Default)]
pub struct Line(String);

impl Line {
    /// A cell whose content is ours: ids, times, numbers.
    pub fn plain(&mut self, value: impl std::fmt::Display) -> &mut Self {
        self.separate();
        let _ = write!(self.0, "{value}");
        self
    }

    pub fn plain_or_empty(&mut self, value: Option<impl std::fmt::Display>) -> &mut Self {
        match value {
            Some(value) => self.plain(value),
            None => self.plain(""),
        }
    }

    /// A cell whose content somebody else chose. What a spreadsheet would take for a formula gets a quote in front.
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.separate();
        let formula = value.starts_with(['=', '+', '-', '@', '\t', '\r']);
        if formula || value.contains([',', '"', '\n', '\r']) {
            self.0.push('"');
            if formula {
                self.0.push('\'');
            }
            self.0.push_str(&value.replace('"', "\"\""));
            self.0.push('"');
        } else {
            self.0.push_str(value);
        }
        self
    }

    pub fn text_or_empty(&mut self, value: Option<&str>) -> &mut Self {
        self.text(value.unwrap_or_default())
    }

    pub fn cell(&mut self, cell: &Cell) -> &mut Self {
        match cell {
            Cell::Plain(value) => self.plain(value),
            Cell::Text(value) => self.text(value),
        }
    }

    /// Ends the line and hands it over.
    pub fn end(&mut self, into: &mut String) {
        // The first separator is one too many.
        into.push_str(self.0.get(1..).unwrap_or_default());
        into.push_str("\r\n");
        self.0.clear();
    }

    fn separate(&mut self) {
        self.0.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_when_they_must_be_and_formulas_are_defused() {
        let mut out = String::new();
        let mut line = Line::default();
        line.text("plain")
            .text("a,b")
            .text("say \"hi\"")
            .text("two\nlines")
            .plain(7);
        line.text("=HYPERLINK(\"x\")").text_or_empty(None);
        line.end(&mut out);
        assert_eq!(
            out,
            "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",7,\"'=HYPERLINK(\"\"x\"\")\",\r\n"
        );
    }
}
