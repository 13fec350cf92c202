//! The markups that services read, and plain text that is shown in each of them as it was written.

use super::text::{CUT_NOTICE, Unit};

/// What a service reads a text as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Markup {
    /// The few tags that phones show: Telegram's and Pushover's.
    Html,
    /// Telegram's second Markdown, which wants nearly every sign escaped.
    TelegramMarkdown,
    /// Telegram's first, where nothing can be escaped inside of bold text.
    TelegramOldMarkdown,
    Discord,
    /// Slack's mrkdwn: it has escapes for three characters alone.
    Slack,
    /// The Markdown of a card's text block.
    Teams,
}

/// The signs that mean something wherever they stand.
const DISCORD_SIGNS: &str = "\\*_~`|[]<";
const TEAMS_SIGNS: &str = "\\*[]";
const TELEGRAM_SIGNS: &str = "\\_*[]()~`>#+-=|{}.!";
const TELEGRAM_OLD_SIGNS: &str = "_*`[";

impl Markup {
    /// The text with everything escaped that the service would not show as it is.
    pub fn escaped(self, text: &str) -> String {
        let mut written = String::with_capacity(text.len() + text.len() / 8);
        let mut writer = Writer::new(self);
        for word in words(text) {
            writer.write(word, &mut written);
        }
        written
    }

    /// A title above a text, as bold as the markup allows.
    pub fn title(self, text: &str) -> String {
        let text = self.escaped(text.trim());
        if text.is_empty() {
            return text;
        }
        match self {
            Self::Html => format!("<b>{text}</b>"),
            Self::TelegramMarkdown => format!("*{text}*"),
            Self::TelegramOldMarkdown => text,
            Self::Discord | Self::Teams => format!("**{text}**"),
            // Nothing escapes a star.
            Self::Slack => format!("*{}*", text.replace('*', "")),
        }
    }
}

/// Writes word after word, because some signs mean something at the beginning of a line only, and none inside an address.
#[derive(Clone, Copy)]
struct Writer {
    markup: Markup,
    line_begins: bool,
}

impl Writer {
    fn new(markup: Markup) -> Self {
        Self {
            markup,
            line_begins: true,
        }
    }

    fn write(&mut self, word: &str, into: &mut String) {
        let first_of_line = std::mem::take(&mut self.line_begins) || word.starts_with('\n');
        if word.chars().all(char::is_whitespace) {
            self.line_begins = first_of_line || word.contains('\n');
            into.push_str(word);
            return;
        }
        match self.markup {
            Markup::Html | Markup::Slack => word.chars().for_each(|c| entity(c, into)),
            Markup::TelegramMarkdown => slashed(word, TELEGRAM_SIGNS, into),
            Markup::TelegramOldMarkdown => slashed(word, TELEGRAM_OLD_SIGNS, into),
            Markup::Discord | Markup::Teams if is_address(word) => into.push_str(word),
            Markup::Discord => {
                begin_line(first_of_line, word, into);
                slashed(word, DISCORD_SIGNS, into);
            }
            Markup::Teams => {
                begin_line(first_of_line, word, into);
                // Inside a word an underscore is one.
                let inner = word.trim_matches('_');
                let (before, after) = word.split_at(word.len() - word.trim_start_matches('_').len());
                into.push_str(&"\\_".repeat(before.len()));
                slashed(inner, TEAMS_SIGNS, into);
                into.push_str(&"\\_".repeat(after.len().saturating_sub(inner.len())));
            }
        }
    }
}

/// A backslash where the line would become a heading, a quotation or an entry of a list.
fn begin_line(first: bool, word: &str, into: &mut String) {
    if first && word.starts_with(['#', '>', '-', '+']) {
        into.push('\\');
    }
}

fn is_address(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

fn slashed(word: &str, signs: &str, into: &mut String) {
    for c in word.chars() {
        if signs.contains(c) {
            into.push('\\');
        }
        into.push(c);
    }
}

fn entity(c: char, into: &mut String) {
    match c {
        '&' => into.push_str("&amp;"),
        '<' => into.push_str("&lt;"),
        '>' => into.push_str("&gt;"),
        other => into.push(other),
    }
}

/// Words and what is between them, in turn, with nothing left out.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c: char| c.is_whitespace() != first.is_whitespace());
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(word)
    })
}

/// Plain text in a markup, cut before it is escaped: what is cut after may end in half an escape.
pub(crate) fn fit_plain(text: &str, limit: usize, unit: Unit, markup: Markup) -> String {
    let whole = markup.escaped(text);
    if unit.count(&whole) <= limit {
        return whole;
    }
    let notice = markup.escaped(CUT_NOTICE);
    let (notice, room) = match limit.checked_sub(unit.count(&notice)) {
        Some(room) if room > 0 => (notice, room),
        _ => (String::new(), limit),
    };
    let mut kept = String::new();
    let (mut writer, mut used) = (Writer::new(markup), 0);
    'words: for word in words(text) {
        let (mut written, before) = (String::new(), writer);
        writer.write(word, &mut written);
        if used + unit.count(&written) <= room {
            used += unit.count(&written);
            kept.push_str(&written);
            continue;
        }
        // The word that does not fit whole, as far as it does.
        writer = before;
        for c in word.chars() {
            let mut written = String::new();
            writer.write(c.encode_utf8(&mut [0; 4]), &mut written);
            used += unit.count(&written);
            if used > room {
                break 'words;
            }
            kept.push_str(&written);
        }
    }
    kept + &notice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_is_shown_as_it_was_written() {
        let text = "a*b* _c_ d_e <f> & [g](h)\n# 1\n- 2 - 3";
        for (markup, written) in [
            (Markup::Html, "a*b* _c_ d_e &lt;f&gt; &amp; [g](h)\n# 1\n- 2 - 3"),
            (Markup::Slack, "a*b* _c_ d_e &lt;f&gt; &amp; [g](h)\n# 1\n- 2 - 3"),
            (
                Markup::Discord,
                "a\\*b\\* \\_c\\_ d\\_e \\<f> & \\[g\\](h)\n\\# 1\n\\- 2 - 3",
            ),
            (
                Markup::Teams,
                "a\\*b\\* \\_c\\_ d_e <f> & \\[g\\](h)\n\\# 1\n\\- 2 - 3",
            ),
            (
                Markup::TelegramMarkdown,
                "a\\*b\\* \\_c\\_ d\\_e <f\\> & \\[g\\]\\(h\\)\n\\# 1\n\\- 2 \\- 3",
            ),
            (
                Markup::TelegramOldMarkdown,
                "a\\*b\\* \\_c\\_ d\\_e <f> & \\[g](h)\n# 1\n- 2 - 3",
            ),
        ] {
            assert_eq!(markup.escaped(text), written, "{markup:?}");
        }
    }

    #[test]
    fn an_address_can_still_be_followed() {
        for markup in [Markup::Discord, Markup::Teams] {
            let text = "see https://a.example/b_c_d?e=*f* now";
            assert_eq!(markup.escaped(text), text);
        }
    }

    #[test]
    fn a_text_that_is_cut_ends_in_no_half_escape() {
        for markup in [Markup::Html, Markup::Slack, Markup::Discord, Markup::Teams] {
            for text in ["&".repeat(500), "*".repeat(500), "<*_\\ ".repeat(200)] {
                for limit in 50..70 {
                    let cut = fit_plain(&text, limit, Unit::Chars, markup);
                    assert!(cut.chars().count() <= limit, "{markup:?} {cut}");
                    let notice = markup.escaped(CUT_NOTICE);
                    let kept = cut.strip_suffix(&notice).unwrap();
                    let slashes = kept.len() - kept.trim_end_matches('\\').len();
                    let entity = kept.rfind('&').is_none_or(|at| kept[at..].contains(';'));
                    let whole = match markup {
                        Markup::Html | Markup::Slack => entity,
                        _ => slashes.is_multiple_of(2),
                    };
                    assert!(whole, "{markup:?} {kept}");
                }
            }
        }
    }
}
