//! Where values come from: defaults, then the file, then the environment. Each value keeps its origin.

use super::{
    key::{Key, PREFIX, variable},
    problem::{Problem, nearest},
};
use figment::{
    Error, Figment, Metadata, Profile, Provider,
    providers::Env,
    util::nest,
    value::{Dict, Map, Value},
};
use std::path::Path;

/// One source of values, with only the keys that exist.
#[derive(Debug, Clone)]
pub struct Layer {
    metadata: Metadata,
    values: Dict,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        Ok(Map::from([(Profile::Default, self.values.clone())]))
    }
}

impl Layer {
    pub fn defaults(values: Dict) -> Self {
        Self {
            metadata: Metadata::named("default"),
            values,
        }
    }

    /// The file's values.
    pub fn file(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| Problem::new(&name, format!("the configuration file cannot be read: {e}")))?;
        let wrong = |e: &dyn std::fmt::Display| {
            Problem::new(&name, format!("the configuration file is not TOML: {e}"))
        };
        let table: toml::Table = toml::from_str(&text).map_err(|e| wrong(&e))?;
        let values = Value::serialize(table).map_err(|e| wrong(&e))?;
        let mut values = values.into_dict().unwrap_or_default();
        // A list of tables that people write by itself belongs to its section.
        if let Some(sources) = values.remove("event_source")
            && let Value::Dict(_, nested) = nest("events.source", sources)
        {
            merge(&mut values, nested);
        }
        Ok(Self {
            values,
            metadata: Metadata::named(name),
        })
    }

    /// `WAYPOST_SECTION__KEY`. Values stay text: a key of digits only is not a number. Lists of tables are TOML in one line.
    pub fn environment() -> Self {
        let mut values = Dict::new();
        let set = Env::prefixed(PREFIX).split("__");
        for (name, value) in set.iter().filter(|(name, _)| name.as_str().contains('.')) {
            let value = match TABLES.contains(&name.as_str()) {
                true => tables(&value).unwrap_or_else(|| Value::from(NO_TABLES)),
                false => Value::from(value),
            };
            if let Value::Dict(_, nested) = nest(name.as_str(), value) {
                merge(&mut values, nested);
            }
        }
        Self {
            metadata: Metadata::named("environment"),
            values,
        }
    }

    pub fn has(&self, key: &Key) -> bool {
        self.find(key.name).is_some()
    }

    pub fn find(&self, name: &str) -> Option<&Value> {
        dig(&self.values, name)
    }

    pub fn set(&mut self, key: &Key, value: &str) {
        if let Value::Dict(_, nested) = nest(key.name, Value::from(value)) {
            merge(&mut self.values, nested);
        }
    }

    pub fn remove(&mut self, name: &str) {
        remove_from(&mut self.values, name);
    }

    /// How a value of this layer is named when somebody asks where it came from.
    pub fn origin(&self, name: &str) -> String {
        match self.metadata.name.as_ref() {
            "environment" => variable(name),
            other => other.to_owned(),
        }
    }

    /// Takes out what no section knows, and names it.
    pub fn drop_unknown(&mut self, known: &[Key]) -> Vec<Problem> {
        let mut unknown = vec![];
        for (section, value) in &self.values {
            let is_section = known.iter().any(|key| key.parts().0 == section);
            match value {
                Value::Dict(_, inner) if is_section || !inner.is_empty() => {
                    unknown.extend(unknown_in(section, inner, known));
                }
                _ => unknown.push(section.clone()),
            }
        }
        let problem = |name: &String| {
            if known.iter().any(|key| key.parts().0 == name) {
                let what = format!("is a section: write [{name}] and its keys below");
                return Problem::new(name, what).from(self.origin(name));
            }
            let hint = match nearest(name, known.iter().map(|k| k.name)) {
                Some(key) => format!("; did you mean {key}?"),
                None => String::from("; `waypost config show` lists those there are"),
            };
            Problem::new(name, format!("there is no such key{hint}")).from(self.origin(name))
        };
        let problems = unknown.iter().map(problem).collect();
        unknown.iter().for_each(|name| self.remove(name));
        self.values
            .retain(|section, _| known.iter().any(|key| key.parts().0 == section));
        problems
    }
}

/// Keys that are lists of tables.
const TABLES: [&str; 3] = ["events.source", "site.system", "site.connection"];
/// Stands for a text that is not: what is in there may be secret.
const NO_TABLES: &str = "what is no list of tables like [{ name = \"…\" }]";

/// `[{ name = "shop", url = "…" }]`, as the file has it.
fn tables(text: &str) -> Option<Value> {
    let mut read: toml::Table = toml::from_str(&format!("list = {}", text.trim())).ok()?;
    let list = read.remove("list").filter(|_| read.is_empty())?;
    let are_tables = list
        .as_array()
        .is_some_and(|items| items.iter().all(toml::Value::is_table));
    are_tables.then(|| Value::serialize(list).ok()).flatten()
}

/// The keys of a table that nobody knows. A table in it is looked into if keys of it are known.
fn unknown_in(table: &str, values: &Dict, known: &[Key]) -> Vec<String> {
    let mut unknown = vec![];
    for (key, value) in values {
        let name = format!("{table}.{key}");
        let below = format!("{name}.");
        match value {
            Value::Dict(_, inner) if known.iter().any(|k| k.name.starts_with(&below)) => {
                unknown.extend(unknown_in(&name, inner, known));
            }
            _ if known.iter().all(|k| k.name != name) => unknown.push(name),
            _ => {}
        }
    }
    unknown
}

/// The value of a key, by its name with its section and, where it has one, its table.
pub(super) fn dig<'a>(values: &'a Dict, name: &str) -> Option<&'a Value> {
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    match (values.get(first)?, rest) {
        (value, "") => Some(value),
        (Value::Dict(_, inner), rest) => dig(inner, rest),
        _ => None,
    }
}

/// What should be a table and is none goes as a whole.
fn remove_from(values: &mut Dict, name: &str) {
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    match values.get_mut(first) {
        Some(Value::Dict(_, inner)) if !rest.is_empty() => remove_from(inner, rest),
        _ => {
            values.remove(first);
        }
    }
}

/// All layers, the later ones winning.
pub fn figment(layers: &[Layer]) -> Figment {
    layers.iter().cloned().fold(Figment::new(), Figment::merge)
}

fn merge(into: &mut Dict, from: Dict) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Dict(_, old)), Value::Dict(_, new)) => merge(old, new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}
