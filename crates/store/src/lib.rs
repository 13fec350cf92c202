//! All SQL of the product. A trait per job, each method one transaction, and two databases behind them:
//! embedded SQLite ([`sqlite`]) and PostgreSQL ([`postgres`]). A site's file ([`buffer`]) is SQLite only.
//!
//! Leaves to others: what a failure means (`domain::settle`), when to try again (`domain::retry`), sending.
//! Always true: there is no `begin`, so no transaction can span a network call; a lost race or a lost lease is a
//! value, not an error; when a method returns, what it says survives power loss (claims excepted).
//!
//! A job is a trait in a file here and a folder of the same name in `sqlite/` and in `postgres/`, with its `sql/`. What
//! both databases must decide alike stands here too, once: which index serves a list ([`list_index`]), when a page ends
//! ([`paging`]), how the audit log is written and ordered ([`audit`]), holds ([`holds`]), what is condensed
//! ([`roll_up`]). What is left in a twin is SQL and its types.
//!
//! To add an operation: a method on the trait of its job with its promise in the doc comment; a `.sql` file of the same
//! name in `sqlite/JOB/sql` and `postgres/JOB/sql`, listed in the `sql.rs` beside it; a case in `tests/it/suite` listed
//! once in `tests/it/main.rs`, which runs it on both. Where the dialects differ, the reason stands above the clause.

#[macro_use]
mod statements;

mod audit;
pub mod buffer;
pub mod directory;
mod error;
pub mod events;
pub mod external;
mod extra;
pub mod failover;
mod holds;
pub mod jobs;
mod list_index;
pub mod loops;
pub mod maintenance;
pub mod operator;
pub mod outbox;
mod paging;
pub mod postgres;
pub mod private;
pub mod query;
pub mod receipts;
mod roll_up;
mod schema;
pub mod signals;
pub mod sites;
pub mod sources;
pub mod sqlite;
pub mod stats;
pub mod suppressions;
pub mod templates;
mod transcripts;
pub mod users;

pub use buffer::Buffer;
pub use directory::Directory;
pub use error::{Error, Result, json_fault};
pub use events::Events;
pub use failover::Failover;
pub use jobs::Jobs;
pub use maintenance::Maintenance;
pub use operator::Operator;
pub use outbox::Outbox;
pub use query::Queries;
pub use receipts::Receipts;
pub use signals::Signals;
pub use sites::Sites;
pub use stats::Stats;
pub use suppressions::Suppressions;
pub use templates::Templates;
pub use users::Users;

/// Everything central keeps. Used as `Arc<dyn Store>` by whoever opens it; a part is handed the job it needs, as
/// `Arc<dyn Directory>`.
pub trait Store:
    Outbox
    + Signals
    + Operator
    + Queries
    + Receipts
    + Directory
    + Events
    + Failover
    + Jobs
    + Maintenance
    + Sites
    + Users
    + Stats
    + Templates
    + Suppressions
{
}

impl<T> Store for T where
    T: Outbox
        + Signals
        + Operator
        + Queries
        + Receipts
        + Directory
        + Events
        + Failover
        + Jobs
        + Maintenance
        + Sites
        + Users
        + Stats
        + Templates
        + Suppressions
{
}
