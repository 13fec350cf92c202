//! The link from end to end, over pipes in memory and over TLS on loopback. Time is tokio's own, paused: waiting for
//! keep-alive or patience takes no time at all.

mod connecting;
mod relays;
mod submitting;
mod tls;
mod world;
