//! The command lines that README and docs show, with file and line, for tests that try them.

use std::path::{Path, PathBuf};

/// One command line of the docs, without the word `waypost`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// From the root of the repository.
    pub file: String,
    pub line: usize,
    pub words: Vec<String>,
    /// The command right before it, which may lend it its beginning: `` `waypost user list`, `link` ``.
    pub after: Option<Vec<String>>,
    pub place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a code block: as somebody types it.
    Block,
    /// Between backquotes in a sentence.
    Sentence,
    /// In the first column of a table of commands, where arguments stand apart.
    Table,
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: waypost {}", self.file, self.line, self.words.join(" "))
    }
}

/// Every command line in README.md, CONTRIBUTING.md, SECURITY.md, ARCHITECTURE.md, docs and the example's page.
pub fn command_lines(root: &Path) -> Vec<Shown> {
    let mut files: Vec<PathBuf> = [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "ARCHITECTURE.md",
        "examples/bookings/README.md",
    ]
    .map(PathBuf::from)
    .into();
    let pages = std::fs::read_dir(root.join("docs")).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    for page in pages.flatten() {
        let name = page.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            files.push(Path::new("docs").join(name));
        }
    }
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(root.join(file))
                .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            in_page(&file.to_string_lossy(), &text)
        })
        .collect()
}

/// The command lines of one page.
pub fn in_page(file: &str, text: &str) -> Vec<Shown> {
    let mut shown = vec![];
    let (mut fenced, mut table) = (false, false);
    let mut started: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced || line.starts_with("    ") {
            let (begun, mut whole) = started.take().unwrap_or((number, String::new()));
            whole.push_str(line.trim());
            match whole.strip_suffix('\\') {
                Some(half) => started = Some((begun, half.to_owned())),
                None => shown.extend(typed(&whole).map(|words| Shown {
                    file: file.to_owned(),
                    line: begun,
                    words,
                    after: None,
                    place: Place::Block,
                })),
            }
            continue;
        }
        table = line.starts_with("| command |") || table && line.starts_with('|');
        let of = |(words, after)| Shown {
            file: file.to_owned(),
            line: number,
            words,
            after,
            place: if table { Place::Table } else { Place::Sentence },
        };
        match line.split('|').nth(1).filter(|_| table) {
            Some(cell) => shown.extend(spans(cell, true).into_iter().map(of)),
            None => shown.extend(spans(line, false).into_iter().map(of)),
        }
    }
    shown
}

/// The words of a line in a code block, if it is a command of ours.
fn typed(line: &str) -> Option<Vec<String>> {
    let inner = line
        .split_once("$(waypost ")
        .and_then(|(_, rest)| rest.split_once(')'));
    let line = match inner {
        Some((inner, _)) => format!("waypost {inner}"),
        None => line.replace("cargo run --release -- ", "waypost "),
    };
    let mut words = split(&line).into_iter();
    if words.next()? != "waypost" {
        return None;
    }
    let words: Vec<String> = words
        .take_while(|word| !matches!(word.as_str(), "&" | "|" | ">" | "#"))
        .collect();
    // A drawing may begin with the name, too.
    is_word(words.first()?).then_some(words)
}

/// The commands between the backquotes of a line, each with the one right before it.
fn spans(line: &str, table: bool) -> Vec<(Vec<String>, Option<Vec<String>>)> {
    let parts: Vec<&str> = line.split('`').collect();
    let mut found = vec![];
    let mut last: Option<Vec<String>> = None;
    for (i, span) in parts.iter().enumerate().skip(1).step_by(2) {
        let between = parts[i - 1];
        let goes_on = [", ", " and ", ", and ", " or ", " ◦, "].contains(&between);
        let before = last.take().filter(|_| goes_on);
        let (words, after) = match (span.strip_prefix("waypost "), before) {
            (Some(rest), _) => (split(rest), None),
            (None, Some(before)) if is_word(span) || span.starts_with("--") => (split(span), Some(before)),
            (None, None) if table && is_word(span) => (split(span), None),
            _ => continue,
        };
        let own: Vec<String> = words.iter().take_while(|word| is_word(word)).cloned().collect();
        last = Some(match &after {
            Some(before) if own.is_empty() => before.clone(),
            Some(before) if own[0] != before[0] => [&before[..before.len() - 1], &own].concat(),
            _ => own,
        });
        last = last.filter(|path| !path.is_empty());
        found.push((words, after));
    }
    found
}

/// Whether it reads like the name of a command.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.contains(['/', '=', '.', '_', '@'])
}

/// Splits as a shell does, as far as the docs need it.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(usize, String, String)> {
        let shown = in_page("x.md", text).into_iter();
        shown
            .map(|s| (s.line, s.words.join(" "), s.after.unwrap_or_default().join(" ")))
            .collect()
    }

    fn of(line: usize, words: &str, after: &str) -> (usize, String, String) {
        (line, words.into(), after.into())
    }

    #[test]
    fn blocks_are_read_as_a_shell_reads_them() {
        let page = "text\n\n    waypost notify --body \"a b\" \\\n        --wait   # why\n    ls\n\
                    ```sh\nexport K=$(waypost key create --role admin)\nwaypost serve &\n```\n";
        assert_eq!(
            all(page),
            [
                of(3, "notify --body a b --wait", ""),
                of(7, "key create --role admin", ""),
                of(8, "serve", ""),
            ]
        );
        assert_eq!(split("notify --body \"a b\"").len(), 3);
    }

    #[test]
    fn a_command_lends_its_beginning_to_the_next() {
        assert_eq!(
            all("See `waypost user list`, `link NAME` and `./x`; `waypost sites`."),
            [
                of(1, "user list", ""),
                of(1, "link NAME", "user list"),
                of(1, "sites", "")
            ]
        );
    }

    #[test]
    fn a_table_of_commands_needs_no_program_name() {
        let page = "| command | does |\n|---|---|\n| `key create` ◦, `list` · `notify --to LIST`, `--wait` | `x` |\n";
        assert_eq!(
            all(page),
            [
                of(3, "key create", ""),
                of(3, "list", "key create"),
                of(3, "notify --to LIST", ""),
                of(3, "--wait", "notify"),
            ]
        );
    }
}
