//! Putting a node together: the store behind its URL, central over it, logs, metrics and signals around it.

pub mod bootstrap;
pub mod files;
mod json_log;
pub mod links;
pub mod logging;
pub mod machine;
pub mod metric_families;
pub mod metrics;
pub mod node;
pub mod otlp;
mod pair;
pub mod signals;
pub mod site;
pub mod store;
