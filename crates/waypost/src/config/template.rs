//! The commented file that `waypost config init` writes: every key with what it means, its default commented out.

use super::{Key, database, defaults, keys};
use figment::value::{Dict, Value};
use std::fmt::Write;

/// A configuration file that says everything and changes nothing.
pub fn template() -> String {
    let defaults = defaults();
    let mut text = String::from(
        "# Waypost's configuration. Every key is shown with its default, or with an example after \"e.g.\".\n\
         # Take the # away to change one. WAYPOST_SECTION__KEY in the environment wins over this file.\n\
         # `waypost config check` says whether it will do; `waypost config show` what is in force.\n",
    );
    let mut current = "";
    for key in keys() {
        let (section, name) = key.parts();
        if section != current {
            let _ = write!(text, "\n[{section}]\n");
            current = section;
        }
        for line in wrapped(key.help) {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, "# Takes {}.", key.takes);
        let _ = match default_of(&key, &defaults) {
            Some(value) => writeln!(text, "#{name} = {value}\n"),
            None => writeln!(text, "# e.g. {name} = {}\n", quoted(key.example)),
        };
    }
    text
}

fn default_of(key: &Key, defaults: &Dict) -> Option<String> {
    if key.name == database::URL.name {
        return Some(quoted(database::DEFAULT_URL));
    }
    Some(match super::layers::dig(defaults, key.name)? {
        Value::String(_, text) => quoted(text),
        other => super::show::text(other),
    })
}

fn quoted(text: &str) -> String {
    if text.starts_with('[') {
        text.to_owned()
    } else {
        format!("{text:?}")
    }
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let full = lines.last().is_some_and(|line| line.len() + word.len() > 100);
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_names_every_key_and_sets_none() {
        let text = template();
        for key in keys() {
            let (_, name) = key.parts();
            assert!(text.contains(&format!("{name} = ")), "{} is missing", key.name);
        }
        let parsed: toml::Table = toml::from_str(&text).unwrap();
        assert!(
            parsed
                .values()
                .all(|section| section.as_table().is_some_and(toml::Table::is_empty))
        );
    }

    #[test]
    fn every_default_of_the_template_is_taken_when_its_comment_sign_goes() {
        let text = template().replace("\n#", "\n").replace("\n ", "\n# ");
        let parsed: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(parsed["outbox"]["lease"].as_str(), Some("2m"));
        assert_eq!(parsed["outbox"]["dispatch_batch_size"].as_integer(), Some(100));
    }
}
