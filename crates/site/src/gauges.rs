//! The figures a site is watched by. Read from counters in memory; no query runs for them.

use crate::{pair::LeaseBy, site::Site};
use domain::pair::Role;
use link::LinkState;
use metrics::gauge;

/// Sets every gauge from what is known. Called after each sweep and whenever the figures are read.
pub fn set(site: &Site) {
    let id = site.settings.id.to_string();
    let depth = site.buffer.depth();
    for (category, n) in &depth.pending {
        gauge!("waypost_site_queue_depth", "site" => id.clone(), "category" => category.as_str())
            .set(*n as f64);
    }
    for (category, n) in &depth.parked {
        gauge!("waypost_site_parked", "site" => id.clone(), "category" => category.as_str()).set(*n as f64);
    }
    let of_site = |name: &'static str, value: f64| gauge!(name, "site" => id.clone()).set(value);
    of_site("waypost_site_buffer_bytes", depth.bytes as f64);
    of_site(
        "waypost_site_refusing",
        f64::from(site.buffer.refusing().is_some()),
    );
    of_site("waypost_site_damage", site.buffer.damaged() as f64);
    of_site("waypost_site_remembered_bytes", depth.remembered_bytes as f64);
    of_site("waypost_site_without_handler", site.without_handler() as f64);
    for ((category, target), down) in site.engine.targets() {
        gauge!("waypost_site_target_down", "site" => id.clone(), "category" => category.as_str(), "target" => target)
            .set(f64::from(down));
    }
    if let Some(pair) = site.pair() {
        of_site("waypost_site_active", f64::from(pair.role() == Role::Active));
        of_site("waypost_site_held", f64::from(pair.held().is_some()));
        let figures = pair.figures();
        of_site("waypost_site_copy_behind", figures.behind as f64);
        let behind_for = figures.behind_for.unwrap_or_default();
        of_site("waypost_site_copy_behind_seconds", behind_for.as_secs_f64());
        of_site("waypost_site_peer_reachable", f64::from(figures.reachable));
        of_site(
            "waypost_site_peer_silent_seconds",
            figures.silent_for.as_secs_f64(),
        );
        of_site("waypost_site_lease_seconds", figures.lease.as_secs_f64());
        for by in LeaseBy::ALL {
            gauge!("waypost_site_lease", "site" => id.clone(), "by" => by.as_str())
                .set(f64::from(figures.lease_by == Some(by)));
        }
        of_site("waypost_site_own_rows", figures.own as f64);
    }
    let up = site.link().as_ref().is_some_and(LinkState::is_up);
    of_site("waypost_site_link_up", f64::from(up));
}
