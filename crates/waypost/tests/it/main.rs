//! The binary, from outside: its commands against a real server process, its configuration, and the rules the whole
//! workspace keeps.

mod cli;
mod config;
mod harness;
mod tidy;
