//! Real processes, real sockets, real kills. Sizes: a few rounds by default, the full ones with
//! `WAYPOST_TEST_SIZE=soak`.

mod crash;
mod demo;
mod far_end;
mod load;
mod node;
#[cfg(feature = "postgres-tests")]
mod postgres;
#[cfg(feature = "postgres-tests")]
mod postgres_down;
mod size;
mod smtp;
#[cfg(feature = "postgres-tests")]
mod two_nodes;
#[cfg(feature = "postgres-tests")]
mod two_processes;
