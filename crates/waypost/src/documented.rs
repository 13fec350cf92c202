//! The command lines of README, docs, and what the program itself says against the commands there are.

use crate::cli::Cli;
use clap::{CommandFactory, Parser, error::ErrorKind};
use std::path::Path;
use testkit::docs::{Place, Shown, command_lines};

#[test]
fn every_command_line_that_the_docs_show_is_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lines = command_lines(&root);
    assert!(lines.len() > 60, "only {} were found", lines.len());
    let wrong: Vec<String> = lines
        .iter()
        .filter_map(|shown| problem(shown).map(|why| format!("{shown}\n    {why}")))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_command_line_that_the_program_itself_advises_is_one() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let lines = advice(&crates);
    assert!(lines.len() > 60, "only {} were found", lines.len());
    let wrong: Vec<String> = lines
        .iter()
        // The name of a command, without what it takes.
        .filter(|shown| !shown.words.iter().all(|word| is_lowercase(word)))
        .filter_map(|shown| problem(shown).map(|why| format!("{shown}\n    {why}")))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn is_lowercase(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// The command lines between backquotes in sources and pages of the console. This file has wrong ones on purpose.
fn advice(folder: &Path) -> Vec<Shown> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            found.extend(advice(&path));
        }
        let shows = path.extension().is_some_and(|end| end == "rs" || end == "html");
        if !shows || path.ends_with("documented.rs") || path.ends_with("testkit/src/docs.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().map(str::trim_start).collect();
        // A text that goes on in the next line of the source.
        let text = lines.join("\n").replace("\\\n", "");
        let shown = testkit::docs::in_page(&path.to_string_lossy(), &text);
        found.extend(shown.into_iter().filter(|shown| shown.after.is_none()));
    }
    found
}

#[test]
fn a_wrong_command_line_is_named_with_file_and_line() {
    let page = "text\n`waypost user list`, `password` and `waypost parked retry`, `waypost provider set a --sett b=c`\n";
    let found: Vec<_> = testkit::docs::in_page("docs/x.md", page)
        .iter()
        .map(|shown| (shown.to_string(), problem(shown).is_some()))
        .collect();
    let expected = [
        ("docs/x.md:2: waypost user list", false),
        ("docs/x.md:2: waypost password", true),
        ("docs/x.md:2: waypost parked retry", true),
        ("docs/x.md:2: waypost provider set a --sett b=c", true),
    ];
    assert_eq!(found, expected.map(|(text, wrong)| (text.to_owned(), wrong)));
}

/// Why nobody could type this.
fn problem(shown: &Shown) -> Option<String> {
    let flags = shown.words.first().is_some_and(|word| word.starts_with("--"));
    match &shown.after {
        None => unfit(&shown.words, shown.place),
        Some(before) if flags => unknown_flag(before, &shown.words[0]),
        Some(before) => {
            let begun = [&before[..before.len() - 1], &shown.words].concat();
            unfit(&begun, shown.place).filter(|_| unfit(&shown.words, shown.place).is_some())
        }
    }
}

fn unfit(words: &[String], place: Place) -> Option<String> {
    let filled = words.iter().map(|word| filled(word));
    let line = std::iter::once("waypost".to_owned()).chain(filled);
    let error = Cli::try_parse_from(line).err()?;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => None,
        // The name of a group of commands.
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            if place != Place::Block =>
        {
            None
        }
        // A table of commands shows some arguments apart.
        ErrorKind::MissingRequiredArgument if place == Place::Table => None,
        _ => error.to_string().lines().next().map(str::to_owned),
    }
}

fn unknown_flag(path: &[String], flag: &str) -> Option<String> {
    let cli = Cli::command();
    let command = path
        .iter()
        .try_fold(&cli, |command, name| command.find_subcommand(name))?;
    let name = flag.trim_start_matches("--");
    let known = command.get_arguments().any(|arg| arg.get_long() == Some(name));
    (!known).then(|| format!("{} has no {flag}", path.join(" ")))
}

/// What somebody would write where the docs have a word in capitals.
fn filled(word: &str) -> String {
    let bare = word.trim_matches(['[', ']']).trim_end_matches('…');
    match bare.split('|').next().unwrap_or_default() {
        "ID" | "{id}" => "0190b6d8-7c1e-7a3e-8f5c-2d1f0a9b8c7d".into(),
        "COMMAND" => "status".into(),
        "TIME" => "2h".into(),
        "SHELL" => "bash".into(),
        "WORKLOAD" => "w1a".into(),
        "KEY=VALUE" => "site=north".into(),
        other => other.into(),
    }
}
