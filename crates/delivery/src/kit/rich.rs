//! The HTML of a message in a service's own markup: bold, italic, struck out, links, lists, paragraphs. Of everything else its
//! text stays.
//!
//! Always true: what was opened is closed, also where the text is cut; no value of an attribute goes out but an address.

use super::{
    html::{Piece, decoded, read},
    markup::Markup,
    text::{CUT_NOTICE, Unit},
};

/// The HTML in the service's markup, cut with a notice where it is too long. None where there is nothing to show.
pub(crate) fn rich(html: &str, limit: usize, unit: Unit, markup: Markup) -> Option<String> {
    let mut room = limit;
    loop {
        let mut writer = Writer::new(markup, unit, room);
        let all = read(html, &mut |piece| writer.take(piece));
        let written = writer.end(!all);
        if unit.count(&written) <= limit || room == 0 {
            return Some(written).filter(|text| !text.is_empty() && room > 0);
        }
        // What closes the text, and the notice, came on top.
        room = room.saturating_sub(unit.count(&written) - limit);
    }
}

/// What is open: what closes it, and whether anything was written inside.
struct Mark {
    element: &'static str,
    opens: String,
    closes: String,
    /// Written when the first text comes: what is empty leaves nothing behind.
    open: bool,
}

/// Elements that are shown, under one name each.
const SHOWN: [(&str, &str); 10] = [
    ("b", "b"),
    ("strong", "b"),
    ("i", "i"),
    ("em", "i"),
    ("s", "s"),
    ("del", "s"),
    ("a", "a"),
    ("h1", "b"),
    ("h2", "b"),
    ("h3", "b"),
];
const BLOCKS: [&str; 13] = [
    "p",
    "div",
    "ul",
    "ol",
    "table",
    "tr",
    "blockquote",
    "pre",
    "h1",
    "h2",
    "h3",
    "section",
    "article",
];
/// Nobody means more.
const MAX_DEPTH: usize = 20;

struct Writer {
    markup: Markup,
    unit: Unit,
    room: usize,
    used: usize,
    out: String,
    marks: Vec<Mark>,
    /// For each list, the number of its next entry; none where they are not numbered.
    lists: Vec<Option<u32>>,
    /// Line ends to write before the next text.
    lines: usize,
    space: bool,
}

impl Writer {
    fn new(markup: Markup, unit: Unit, room: usize) -> Self {
        Self {
            markup,
            unit,
            room,
            used: 0,
            out: String::new(),
            marks: vec![],
            lists: vec![],
            lines: 0,
            space: false,
        }
    }

    /// Whether there is room for more.
    fn take(&mut self, piece: Piece<'_>) -> bool {
        match piece {
            Piece::Text(text) => return self.text(&decoded(text)),
            Piece::Open { name: "br", .. } => self.lines = self.lines.saturating_add(1).min(2),
            Piece::Open { name: "li", .. } => return self.entry(),
            Piece::Open { name, href } => {
                match name {
                    "ol" => self.lists.push(Some(1)),
                    "ul" => self.lists.push(None),
                    _ => {}
                }
                self.block(name);
                self.open(name, href);
            }
            Piece::Close(name) => {
                self.close(name);
                self.block(name);
                if matches!(name, "ol" | "ul") {
                    self.lists.pop();
                }
            }
        }
        true
    }

    fn block(&mut self, name: &str) {
        if BLOCKS.contains(&name) {
            let wanted = if name == "p" { 2 } else { 1 };
            self.lines = self.lines.max(wanted);
        }
    }

    fn entry(&mut self) -> bool {
        self.lines = self.lines.max(1);
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{}. ", number.saturating_sub(1))
            }
            _ => "• ".to_owned(),
        };
        self.between();
        self.put(&bullet)
    }

    fn open(&mut self, name: &str, href: Option<String>) {
        let Some((_, element)) = SHOWN.iter().find(|(known, _)| *known == name) else {
            return;
        };
        if self.marks.len() < MAX_DEPTH
            && let Some((opens, closes)) = marks(self.markup, element, href)
        {
            self.marks.push(Mark {
                element,
                opens,
                closes,
                open: false,
            });
        }
    }

    /// Closes an element, and with it what was opened inside and never closed.
    fn close(&mut self, name: &str) {
        let Some((_, element)) = SHOWN.iter().find(|(known, _)| *known == name) else {
            return;
        };
        if let Some(at) = self.marks.iter().rposition(|mark| mark.element == *element) {
            self.close_down_to(at);
        }
    }

    fn close_down_to(&mut self, depth: usize) {
        while self.marks.len() > depth {
            if let Some(mark) = self.marks.pop().filter(|mark| mark.open) {
                self.used += self.unit.count(&mark.closes);
                self.out.push_str(&mark.closes);
            }
        }
    }

    /// Runs of spaces are one, and none stands where a line begins.
    fn text(&mut self, text: &str) -> bool {
        for (n, word) in text.split(char::is_whitespace).enumerate() {
            self.space |= n > 0;
            if word.is_empty() {
                continue;
            }
            if !self.between() {
                return false;
            }
            for mark in self.marks.iter_mut().filter(|mark| !mark.open) {
                mark.open = true;
                self.used += self.unit.count(&mark.opens);
                self.out.push_str(&mark.opens);
            }
            if !self.put(&self.markup.escaped(word)) {
                // As far as it fits: some languages write whole sentences as one word.
                let letters = word
                    .chars()
                    .map(|c| self.markup.escaped(c.encode_utf8(&mut [0; 4])));
                let letters: Vec<_> = letters.collect();
                letters.iter().all(|letter| self.put(letter));
                return false;
            }
        }
        true
    }

    /// What stands between the text so far and the next.
    fn between(&mut self) -> bool {
        let (lines, space) = (std::mem::take(&mut self.lines), std::mem::take(&mut self.space));
        if self.out.is_empty() {
            return true;
        }
        match lines {
            0 if space => self.put(" "),
            0 => true,
            lines => self.put(&"\n".repeat(lines)),
        }
    }

    fn put(&mut self, text: &str) -> bool {
        let more = self.unit.count(text);
        let fits = self.used + more <= self.room;
        if fits {
            self.used += more;
            self.out.push_str(text);
        }
        fits
    }

    fn end(mut self, cut: bool) -> String {
        self.close_down_to(0);
        if cut {
            let notice = self.markup.escaped(CUT_NOTICE);
            self.out.push_str(&notice);
        }
        self.out
    }
}

/// What opens and closes an element in a markup; none where it has no word for it.
fn marks(markup: Markup, element: &str, href: Option<String>) -> Option<(String, String)> {
    let same = |sign: &str| Some((sign.to_owned(), sign.to_owned()));
    match (markup, element) {
        (Markup::Html, "a") => {
            let url = href?.replace('&', "&amp;");
            Some((format!("<a href=\"{url}\">"), "</a>".into()))
        }
        (Markup::Html, "s") => None,
        (Markup::Html, _) => Some((format!("<{element}>"), format!("</{element}>"))),
        (Markup::Slack, "a") => {
            let url = href?.replace('&', "&amp;");
            Some((format!("<{url}|"), ">".into()))
        }
        (Markup::Slack, "b") => same("*"),
        (Markup::Slack, "s") => same("~"),
        (_, "a") => Some(("[".into(), format!("]({})", href?))),
        (_, "b") => same("**"),
        (_, "i") => same("_"),
        (Markup::Discord, "s") => same("~~"),
        _ => None,
    }
}

#[cfg(test)]
#[path = "rich_tests.rs"]
mod tests;
