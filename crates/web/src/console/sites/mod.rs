//! Sites: where notifications come from, and what their agents hold back.

pub mod all;
pub mod csv;
pub mod known;
pub mod list;
pub mod one;
pub mod waiting;
