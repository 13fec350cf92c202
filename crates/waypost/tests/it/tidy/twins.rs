//! The store's two databases: what both must decide stands beside the traits, once. And its files stay of a size that
//! one reads to the end.

use super::{files, read, scan::Source};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

/// So many lines of the same shape may stand in both; more is a decision that was typed twice.
const SAME_LINES: usize = 12;

/// A line of code without its names and texts: what is left is what it does. Nothing is left of a list of names.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut word = String::from(c);
            while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(c);
            }
            shape.push_str(if KEYWORDS.contains(&word.as_str()) {
                &word
            } else {
                "n"
            });
        } else if !c.is_whitespace() {
            shape.push(c);
        }
    }
    match shape.chars().all(|c| matches!(c, 'n' | ',' | ':' | '"')) {
        true => String::new(),
        false => shape,
    }
}

const KEYWORDS: [&str; 22] = [
    "as", "async", "await", "const", "dyn", "else", "enum", "fn", "for", "if", "impl", "in", "let", "loop",
    "match", "move", "mut", "pub", "return", "struct", "use", "while",
];

/// The lines of a file that do something, with their numbers. What is imported says nothing.
fn shapes(code: &str) -> Vec<(usize, String)> {
    let mut shapes = vec![];
    let mut importing = false;
    for (number, line) in code.lines().enumerate() {
        importing |= line.trim_start().starts_with("use ");
        let shape = shape(line);
        if !importing && !shape.is_empty() {
            shapes.push((number + 1, shape));
        }
        importing &= !line.trim_end().ends_with(';');
    }
    shapes
}

/// Where a run of lines longer than this stands in one of the files on each side: as sentences.
fn runs(one: &[(String, String)], other: &[(String, String)], longest: usize) -> Vec<String> {
    let read = |files: &[(String, String)]| -> Vec<_> {
        let shapes = |(name, code): &(String, String)| (name.clone(), shapes(code));
        files.iter().map(shapes).collect()
    };
    let (one, other) = (read(one), read(other));
    let window =
        |lines: &[(usize, String)]| -> Vec<String> { lines.iter().map(|(_, s)| s.clone()).collect() };
    let mut places: HashMap<Vec<String>, String> = HashMap::new();
    for (name, lines) in &one {
        for lines in lines.windows(longest + 1) {
            places.insert(window(lines), format!("{name}:{}", lines[0].0));
        }
    }
    let mut found = vec![];
    for (name, lines) in &other {
        for lines in lines.windows(longest + 1) {
            if let Some(place) = places.get(&window(lines)) {
                found.push(format!("{name}:{} as in {place}", lines[0].0));
            }
        }
    }
    found
}

fn sources(below: &str) -> Vec<(String, String)> {
    let source = |path: &Path| (path.display().to_string(), Source::read(&read(path)).code);
    files(below, ".rs").iter().map(|path| source(path)).collect()
}

#[test]
fn no_decision_is_typed_once_for_each_database() {
    let found = runs(
        &sources("crates/store/src/sqlite"),
        &sources("crates/store/src/postgres"),
        SAME_LINES,
    );
    assert!(
        found.is_empty(),
        "more than {SAME_LINES} lines are the same in both; give them a home beside the trait:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_run_is_found_whatever_its_names_are_and_lists_of_names_are_none() {
    let file = |code: &str| vec![(String::from("file"), code.to_owned())];
    let one = file("use a::{\n    b,\n};\nfn one() {\n    let x = f(y)?;\n    if x { return g(\"\"); }\n}\n");
    let other = file("fn two() {\n\n    let name = call(with)?;\n    if name { return h(\"\"); }\n}\n");
    assert_eq!(runs(&one, &other, 3), ["file:1 as in file:4"]);
    assert!(runs(&one, &other, 4).is_empty(), "both end there");
    let names = file("statements!(\n    a,\n    b,\n    c,\n);\n");
    assert!(runs(&names, &names, 2).is_empty());
}

/// The longest function: its name and its lines, from `fn` to the brace that closes it.
fn longest_function(code: &str) -> Option<(String, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut longest = None;
    for (start, line) in lines.iter().enumerate() {
        let Some((_, name)) = line.split_once("fn ").filter(|(before, _)| {
            before
                .split_whitespace()
                .all(|word| word.starts_with("pub") || KEYWORDS.contains(&word))
        }) else {
            continue;
        };
        // In a macro that repeats it, the brace is followed by what says so.
        let ends = |line: &&str| {
            let line_end = line.trim_end().trim_end_matches(")*");
            indent(line) == indent(lines[start]) && line_end.ends_with(['}', ';'])
        };
        let length = lines[start..].iter().position(ends).map_or(0, |at| at + 1);
        if longest.as_ref().is_none_or(|(_, n)| length > *n) {
            longest = Some((name.to_owned(), length));
        }
    }
    longest
}

fn is_made_by_a_tool(path: &Path) -> bool {
    path.starts_with("crates/link/src/wire")
}

/// What somebody reads of the program.
fn read_by_people() -> Vec<PathBuf> {
    let is_source = |path: &PathBuf| path.components().any(|part| part.as_os_str() == "src");
    let mut sources = files("crates", ".rs");
    sources.retain(|path| is_source(path) && !is_made_by_a_tool(path));
    sources
}

#[test]
fn functions_are_read_in_one_go_also_those_of_tests() {
    let mut written = files("crates", ".rs");
    written.retain(|path| !is_made_by_a_tool(path));
    for path in written {
        if let Some((name, lines)) = longest_function(&Source::read(&read(&path)).code) {
            assert!(lines <= 80, "{}: {name} has {lines} lines", path.display());
        }
    }
}

#[test]
fn files_are_read_in_one_go() {
    let mut lengths: Vec<usize> = read_by_people()
        .iter()
        .map(|path| read(path).lines().count())
        .collect();
    lengths.sort_unstable();
    let (median, p95) = (lengths[lengths.len() / 2], lengths[lengths.len() * 95 / 100]);
    assert!(
        median <= 120 && p95 <= 320,
        "half of the files have more than {median} lines, one in twenty more than {p95}"
    );
}

#[test]
fn a_function_is_counted_from_its_name_to_its_brace() {
    let code = "impl A {\n    fn one();\n    pub async fn two(\n        x: u8,\n    ) {\n        f();\n    }\n    fn three() {}\n}\n";
    assert_eq!(longest_function(code), Some(("two(".into(), 5)));
}
