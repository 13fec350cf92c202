//! The audit log beside its two databases: what is written into it ([`entry`]), and in which order it is read ([`order`]).

pub(crate) mod difference;
pub(crate) mod entry;
pub(crate) mod fields;
pub(crate) mod order;

pub(crate) use entry::Entry;
