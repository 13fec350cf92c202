//! The link from end to end, over pipes in memory and over TLS on loopback. Time is tokio's own, paused: waiting for
//! keep-alive or patience takes no time at all.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up fails where it stands"
)]

mod connecting;
mod peer;
mod peer_asked;
mod relays;
mod submitting;
mod tls;
mod world;
