//! The audit log: [`mod@write`] with the change it tells of, [`read`] in pages.

mod read;
mod sql;
mod write;

pub(super) use read::{attempts, page, transcript};
pub(super) use write::{insert, without_nul};
