//! Real processes, real sockets, real kills. Sizes: a few rounds by default, the full ones with
//! `WAYPOST_TEST_SIZE=soak`.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up fails where it stands"
)]

mod application;
mod apprise;
mod bookings_example;
#[cfg(feature = "browser-tests")]
mod browser;
mod crash;
mod demo;
mod event_acceptance;
mod event_lookups;
mod event_outboxes;
mod event_slow_lookups;
#[cfg(feature = "postgres-tests")]
mod event_trouble;
mod events;
mod failover;
mod far_end;
mod homeassistant;
mod hosts;
#[cfg(feature = "postgres-tests")]
mod idle;
mod link;
mod load;
mod log_promise;
mod node;
#[cfg(feature = "postgres-tests")]
mod postgres;
#[cfg(feature = "postgres-tests")]
mod postgres_down;
mod process;
mod proxy;
mod readme;
mod receipts;
mod secrets;
mod site_agent;
mod site_calls;
mod site_hosts;
mod site_kill_rounds;
mod site_outage;
mod site_pair;
mod site_people;
mod site_rolling_restart;
mod site_shown;
mod site_takeover;
mod site_until;
mod size;
mod smtp;
mod trouble;
#[cfg(feature = "postgres-tests")]
mod two_nodes;
#[cfg(feature = "postgres-tests")]
mod two_processes;
