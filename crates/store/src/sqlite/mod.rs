//! Embedded SQLite.
