//! Asking the person at the terminal.

use crate::exit::usage;
use console::Term;
use std::io::{BufRead, IsTerminal, Read, Write};

/// Whether to go on. Without a terminal there is nobody to ask: `--yes` has to be said.
pub fn confirm(question: &str, yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(usage(format!(
            "{question} There is no terminal to ask on: say --yes"
        )));
    }
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// A line from the person at the terminal.
pub fn line(question: &str) -> anyhow::Result<String> {
    eprint!("{question}");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    if std::io::stdin().lock().read_line(&mut answer)? == 0 {
        return Err(usage("nobody answers any more"));
    }
    Ok(answer.trim_end_matches(['\r', '\n']).to_owned())
}

/// The same, typed unseen.
pub fn secret_or_nothing(question: &str) -> anyhow::Result<String> {
    eprint!("{question}");
    std::io::stderr().flush()?;
    Ok(Term::stderr().read_secure_line()?)
}

/// A secret: typed unseen at a terminal, otherwise one line of standard input.
pub fn secret(name: &str) -> anyhow::Result<String> {
    let text = if std::io::stdin().is_terminal() {
        eprint!("{name}: ");
        std::io::stderr().flush()?;
        Term::stderr().read_secure_line()?
    } else {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line)?;
        line.trim_end_matches(['\r', '\n']).to_owned()
    };
    match text.is_empty() {
        true => Err(usage(format!("no value was given for {name}"))),
        false => Ok(text),
    }
}

/// All of standard input.
pub fn input() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}
