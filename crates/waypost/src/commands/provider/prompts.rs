//! Asking for the settings of a provider one by one, as its kind describes them.
//!
//! Always true: nothing is asked where everything that is needed was given, or where nobody is there to answer.

use super::settings::{get, put, typed};
use crate::output::ask;
use client::{ProviderKind, Setting};
use serde_json::{Map, Value};
use std::io::IsTerminal;

/// Who is asked.
pub trait Ask {
    /// One line; empty when nothing was said.
    fn line(&mut self, question: &str) -> anyhow::Result<String>;
    /// The same, typed unseen.
    fn secret(&mut self, question: &str) -> anyhow::Result<String>;
    fn say(&mut self, text: &str);
}

/// Whoever sits at the terminal.
pub struct Terminal;

impl Terminal {
    /// None where nobody is there to be asked.
    pub fn find() -> Option<Self> {
        std::io::stdin().is_terminal().then_some(Self)
    }
}

impl Ask for Terminal {
    fn line(&mut self, question: &str) -> anyhow::Result<String> {
        ask::line(question)
    }

    fn secret(&mut self, question: &str) -> anyhow::Result<String> {
        ask::secret_or_nothing(question)
    }

    fn say(&mut self, text: &str) {
        eprintln!("{text}");
    }
}

/// Which kind, of those that there are.
pub fn ask_kind(kinds: &[ProviderKind], ask: &mut impl Ask) -> anyhow::Result<String> {
    for kind in kinds {
        ask.say(&format!("  {:<14} {} ({})", kind.kind, kind.title, kind.channel));
    }
    ask.line("Which kind? ")
}

/// Asks for what is missing, if something that is needed is: then for everything that has no default and that the choices
/// made so far leave of use.
pub fn ask_missing(
    kind: &ProviderKind,
    settings: &mut Map<String, Value>,
    ask: &mut impl Ask,
) -> anyhow::Result<()> {
    let missing = |settings: &Map<String, Value>, s: &Setting| get(settings, &s.name).is_none();
    if !kind.settings.iter().any(|s| s.required && missing(settings, s)) {
        return Ok(());
    }
    if let Some(setup) = &kind.setup {
        ask.say(&format!("{}. {setup}\n", kind.title));
    }
    for setting in &kind.settings {
        let asked_for = setting.default.is_none() || setting.kind == "choice";
        if asked_for && missing(settings, setting) && is_of_use(kind, setting, settings) {
            let value = match setting.kind.as_str() {
                "map" => ask_pairs(setting, ask)?,
                _ => ask_one(setting, ask)?,
            };
            if let Some(value) = value {
                put(settings, &setting.name, value);
            }
        }
    }
    Ok(())
}

/// Whether the choice that it depends on has been made.
fn is_of_use(kind: &ProviderKind, setting: &Setting, settings: &Map<String, Value>) -> bool {
    let Some(when) = &setting.when else {
        return true;
    };
    let other = kind.settings.iter().find(|s| s.name == when.setting);
    let chosen = get(settings, &when.setting).or_else(|| other?.default.as_ref());
    chosen
        .and_then(Value::as_str)
        .is_some_and(|word| when.is.iter().any(|is| is == word))
}

fn ask_one(setting: &Setting, ask: &mut impl Ask) -> anyhow::Result<Option<Value>> {
    ask.say(&described(setting));
    loop {
        let question = format!("{} [{}]{}: ", label(setting), setting.name, fallback(setting));
        let text = match setting.secret {
            true => ask.secret(&question)?,
            false => ask.line(&question)?,
        };
        match (text.trim(), setting.required) {
            ("", true) => ask.say("It is needed."),
            ("", false) => return Ok(None),
            (text, _) => match typed(setting, &setting.name, text) {
                Ok(value) => return Ok(Some(value)),
                Err(why) => ask.say(&why.to_string()),
            },
        }
    }
}

fn ask_pairs(setting: &Setting, ask: &mut impl Ask) -> anyhow::Result<Option<Value>> {
    ask.say(&described(setting));
    let mut pairs = Map::new();
    loop {
        let question = format!(
            "{} [{}], NAME=VALUE, empty to go on: ",
            label(setting),
            setting.name
        );
        let text = match setting.secret {
            true => ask.secret(&question)?,
            false => ask.line(&question)?,
        };
        match text.trim().split_once('=') {
            Some((name, value)) => drop(pairs.insert(name.trim().to_owned(), Value::from(value.trim()))),
            None if text.trim().is_empty() => break,
            None => ask.say("Write it like NAME=VALUE."),
        }
    }
    Ok((!pairs.is_empty()).then_some(Value::Object(pairs)))
}

fn label(setting: &Setting) -> &str {
    match setting.label.is_empty() {
        true => &setting.name,
        false => &setting.label,
    }
}

fn described(setting: &Setting) -> String {
    let example = setting.example.as_ref();
    let example = example.map_or_else(String::new, |e| format!(" Example: {e}"));
    format!("{}{example}", setting.help)
}

/// What an empty answer means.
fn fallback(setting: &Setting) -> String {
    let choices = setting.choices.as_ref().map(|words| words.join("|"));
    match (choices, &setting.default) {
        (Some(words), Some(default)) => format!(" ({words}; {})", default.as_str().unwrap_or_default()),
        (Some(words), None) => format!(" ({words})"),
        (None, Some(default)) => format!(" ({})", default.as_str().unwrap_or_default()),
        (None, None) if setting.required => String::new(),
        (None, None) => " (may be left empty)".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::VecDeque;

    #[derive(Default)]
    struct Script {
        answers: VecDeque<&'static str>,
        asked: Vec<String>,
        unseen: Vec<String>,
    }

    impl Ask for Script {
        fn line(&mut self, question: &str) -> anyhow::Result<String> {
            self.asked.push(question.to_owned());
            Ok(self.answers.pop_front().unwrap().to_owned())
        }

        fn secret(&mut self, question: &str) -> anyhow::Result<String> {
            self.unseen.push(question.to_owned());
            self.line(question)
        }

        fn say(&mut self, _: &str) {}
    }

    fn script(answers: &[&'static str]) -> Script {
        Script {
            answers: answers.iter().copied().collect(),
            ..Script::default()
        }
    }

    fn smtp() -> ProviderKind {
        serde_json::from_value(json!({
            "kind": "smtp", "type": "Email", "title": "E-mail", "setup": "A mail server.",
            "settings": [
                {"name": "host", "label": "Mail server", "type": "text", "required": true, "secret": false, "help": ""},
                {"name": "port", "label": "Port", "type": "number", "required": false, "secret": false, "help": ""},
                {"name": "auth", "label": "Login", "type": "choice", "choices": ["none", "plain"], "default": "none",
                 "required": false, "secret": false, "help": ""},
                {"name": "password", "label": "Password", "type": "text", "required": false, "secret": true, "help": "",
                 "when": {"setting": "auth", "is": ["plain"]}},
                {"name": "headers", "label": "Headers", "type": "map", "required": false, "secret": false, "help": ""},
                {"name": "timeout", "label": "Timeout", "type": "duration", "default": "30s", "required": false,
                 "secret": false, "help": ""},
            ],
        }))
        .unwrap()
    }

    #[test]
    fn nothing_is_asked_where_everything_that_is_needed_was_given() {
        let mut settings = json!({"host": "mail"}).as_object().unwrap().clone();
        let mut nobody = script(&[]);
        ask_missing(&smtp(), &mut settings, &mut nobody).unwrap();
        assert!(nobody.asked.is_empty());
    }

    #[test]
    fn what_the_choices_leave_of_use_is_asked_for_and_what_has_a_default_is_not() {
        let mut settings = Map::new();
        let mut person = script(&[
            "",
            "mail.example",
            "many",
            "25",
            "plain",
            "hunter2",
            "X-Team=ops",
            "",
        ]);
        ask_missing(&smtp(), &mut settings, &mut person).unwrap();
        let expected = json!({
            "host": "mail.example", "port": 25, "auth": "plain", "password": "hunter2", "headers": {"X-Team": "ops"},
        });
        assert_eq!(Value::Object(settings), expected);
        assert_eq!(person.unseen.len(), 1, "{:?}", person.unseen);
        assert!(
            person.unseen[0].starts_with("Password [password]"),
            "{:?}",
            person.unseen
        );
        let mut settings = Map::new();
        let mut person = script(&["mail.example", "", "", ""]);
        ask_missing(&smtp(), &mut settings, &mut person).unwrap();
        assert_eq!(Value::Object(settings), json!({"host": "mail.example"}));
        assert!(person.unseen.is_empty(), "no login, no password");
    }
}
