//! A site's file: what it keeps, what it refuses, and what it makes of a damaged one. And other people's databases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod a_small_disk;
mod commit;
mod damage;
mod damaged_memory;
mod external;
mod file;
mod full_disk;
mod handing_in;
mod harness;
mod ids;
mod mend;
mod model;
mod news;
mod proof;
mod replaced;
mod replication;
mod room;
mod small_disk;
mod statements;
mod waiting;
mod written_over;
