//! Sites: where notifications come from, and what their agents hold back.

pub mod list;
pub mod one;
pub mod source;
