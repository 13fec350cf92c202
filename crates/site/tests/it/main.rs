//! A site from intake to acknowledgement: real file, manual clock, scripted far ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api;
mod api_connections;
mod bulk;
mod cable;
mod central;
mod damage;
mod engine;
mod forward;
mod lease;
mod lifecycle;
mod logged;
mod news;
mod pair;
mod pair_acked;
mod pair_alone;
mod pair_asking;
mod pair_catch_up;
mod pair_central;
mod pair_days;
mod pair_disk;
mod pair_forced;
mod pair_handover;
mod pair_lag;
mod pair_meeting;
mod pair_memory;
mod pair_peers;
mod pair_relief;
mod pair_restart;
mod pair_sending;
mod pair_stand_in;
mod pair_strangers;
mod pair_trouble;
mod pair_turns;
mod pair_world;
mod parked;
mod script;
mod status;
mod traces;
mod trouble;
mod waiting;
mod world;
