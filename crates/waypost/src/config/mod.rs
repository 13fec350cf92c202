//! The configuration: one struct per section, read from defaults, file and environment, checked as a whole before
//! anything starts.
//!
//! Always true: an unknown key or a bad value is a [`Problem`] that names the key, its origin and what it takes;
//! all of them are found at once; a secret is in none of them.

pub mod database;
pub mod delivery;
pub mod event_source;
pub mod events;
pub mod key;
mod layers;
mod list;
pub mod log;
mod oidc;
pub mod outbox;
mod problem;
pub mod replication;
pub mod secret;
pub mod secrets;
pub mod server;
mod show;
pub mod site;
pub mod site_targets;
pub mod telemetry;
mod template;

pub use key::Key;
pub use problem::{Problem, Problems};
pub use template::template;

use figment::value::{Dict, Value};
use layers::Layer;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Everything a node is told.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub server: server::Server,
    pub database: database::Database,
    pub secrets: secrets::Secrets,
    pub outbox: outbox::Outbox,
    pub delivery: delivery::Delivery,
    pub events: events::Events,
    pub site: site::Site,
    pub log: log::Log,
    pub telemetry: telemetry::Telemetry,
}

/// The file that is read when none is named and there is one.
pub const DEFAULT_FILE: &str = "waypost.toml";

/// Every key there is, in the order of the sections.
pub fn keys() -> Vec<Key> {
    [
        server::KEYS,
        database::KEYS,
        secrets::KEYS,
        outbox::KEYS,
        delivery::KEYS,
        events::KEYS,
        site::KEYS,
        log::KEYS,
        telemetry::KEYS,
    ]
    .concat()
}

/// A configuration and where it came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub config: Config,
    /// The file that was read, if one was.
    pub file: Option<PathBuf>,
    layers: Vec<Layer>,
}

impl Loaded {
    /// Reads the file named, or `waypost.toml` if there is one, and the environment.
    pub fn read(file: Option<&Path>) -> Result<Self, Problems> {
        let file = match file {
            Some(file) => Some(file.to_owned()),
            None => Some(PathBuf::from(DEFAULT_FILE)).filter(|f| f.exists()),
        };
        let mut layers = vec![Layer::defaults(defaults())];
        if let Some(file) = &file {
            layers.push(Layer::file(file).map_err(|p| Problems(vec![p]))?);
        }
        layers.push(Layer::environment());
        if !layers.iter().any(|layer| layer.has(&database::URL_FILE)) {
            layers[0].set(&database::URL, database::DEFAULT_URL);
        }
        let keys = keys();
        let mut problems: Vec<_> = layers
            .iter_mut()
            .flat_map(|layer| layer.drop_unknown(&keys))
            .collect();
        let (config, bad) = extract(&mut layers.clone(), &keys);
        problems.extend(bad);
        if let Some(config) = &config {
            problems.extend(config.problems().into_iter().map(|p| with_origin(p, &layers)));
        }
        match config {
            Some(config) if problems.is_empty() => Ok(Self { config, file, layers }),
            _ => Err(Problems(problems)),
        }
    }
}

impl Config {
    fn problems(&self) -> Vec<Problem> {
        [
            self.server.problems(),
            self.database.problems(),
            self.secrets.problems(),
            self.outbox.problems(),
            self.delivery.problems(),
            self.events.problems(),
            match self.database.place() {
                Ok(database::Place::Embedded(own)) => self.events.in_own_file(&own),
                _ => vec![],
            },
            self.site.problems(),
            self.log.problems(),
            self.telemetry.problems(),
        ]
        .concat()
    }
}

fn defaults() -> Dict {
    match Value::serialize(Config::default()) {
        Ok(Value::Dict(_, values)) => values,
        _ => Dict::new(),
    }
}

/// Reads the layers. A value that does not fit is named and taken out, so that the next one is found as well.
fn extract(layers: &mut [Layer], keys: &[Key]) -> (Option<Config>, Vec<Problem>) {
    let mut problems = vec![];
    loop {
        let error = match layers::figment(layers).extract_lossy::<Config>() {
            Ok(config) => return (Some(config), problems),
            Err(error) => error,
        };
        // Deeper places, like one entry of a list, belong to their key.
        let name = error.path.iter().take(2).cloned().collect::<Vec<_>>().join(".");
        let found = layers.iter().rev().find_map(|layer| layer.find(&name));
        let problem = match (keys.iter().find(|key| key.name == name), found) {
            // Of a list, the error knows which entry; otherwise the value says it best.
            (Some(key), Some(Value::Array(..)) | None) => Problem::takes(key, error.kind),
            (Some(key), Some(value)) => Problem::takes(key, format!("{:?}", show::text(value))),
            (None, _) => Problem::new(&name, error.kind.to_string()),
        };
        problems.push(with_origin(problem, layers));
        let Some(layer) = layers.iter_mut().rev().find(|layer| layer.find(&name).is_some()) else {
            return (None, problems);
        };
        layer.remove(&name);
    }
}

fn with_origin(problem: Problem, layers: &[Layer]) -> Problem {
    match layers
        .iter()
        .rev()
        .find(|layer| layer.find(&problem.key).is_some())
    {
        Some(layer) => {
            let origin = layer.origin(&problem.key);
            problem.from(origin)
        }
        None => problem,
    }
}
