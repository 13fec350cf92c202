//! One central node, from its configuration.

use crate::config::Config;
use central::{Central, Settings, dispatcher::DispatchSettings, secrets::Sealer};
use delivery::{Captured, Outside, Registry};
use domain::{Clock, SystemClock, Tracer};
use std::sync::Arc;
use store::{Store, maintenance::Retention, query::KpiAsk};

/// What this process is called among those that share the database. New with every start.
pub fn name() -> String {
    let host = gethostname::gethostname();
    let start: u16 = rand::random();
    format!("{}-{}-{start:04x}", host.to_string_lossy(), std::process::id())
}

/// Central over this store, nothing started yet.
pub fn central(
    config: &Config,
    store: Arc<dyn Store>,
    sealer: Sealer,
    node: String,
    tracer: Tracer,
) -> Central {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut outside = Outside::new(clock.clone()).allowing(config.delivery.allow_addresses.clone());
    if let Some(domain) = &config.delivery.message_id_domain {
        outside = outside.with_message_id_domain(domain);
    }
    if let Some(host) = config.server.public_url.as_deref().and_then(host_of) {
        outside = outside.with_host_name(host);
    }
    let registry = Registry::standard(Arc::new(outside), Captured::default());
    let settings = Settings {
        tracer,
        public_url: config.server.public_url.clone(),
        site_lease: config.server.site_lease,
        events: config.events.settings(),
        missing_placeholder: config.events.missing_placeholder,
        ..settings(config, node)
    };
    Central::new(store, registry, sealer, clock, settings)
}

fn settings(config: &Config, node: String) -> Settings {
    let outbox = &config.outbox;
    let standard = DispatchSettings::default();
    Settings {
        dispatch: DispatchSettings {
            interval: outbox.dispatch_interval,
            batch: outbox.dispatch_batch_size as usize,
            lease: outbox.lease,
            ..standard
        },
        retention: retention(config),
        purge_interval: outbox.purge_interval,
        kpi: KpiAsk {
            stuck_after: outbox.stuck_age_threshold,
            delivered_window: outbox.delivered_kpi_window,
        },
        discard_needs_reason: outbox.discard_needs_reason,
        ..Settings::named(node)
    }
}

/// What is kept for how long.
pub fn retention(config: &Config) -> Retention {
    let outbox = &config.outbox;
    Retention {
        terminal: outbox.terminal_retention,
        audit: outbox.audit_retention,
        spent_keys: outbox.spent_key_retention,
        stats: domain::kpi::STATS_KEPT,
        events: config.events.retention,
        transcripts: outbox.transcript_retention,
    }
}

fn host_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // An address in brackets is no domain; a port is no part of one.
    (!host.starts_with('['))
        .then(|| host.split(':').next().unwrap_or(host))
        .filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_url_says_what_this_host_is_called() {
        assert_eq!(
            host_of("https://waypost.example.com:8443/x"),
            Some("waypost.example.com")
        );
        assert_eq!(host_of("http://[::1]:8080"), None);
    }
}
