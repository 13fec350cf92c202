//! A site's file: what it keeps, what it refuses, and what it makes of a damaged one. And other people's databases.

mod commit;
mod external;
mod file;
mod harness;
mod model;
mod room;
mod statements;
