//! A site from intake to acknowledgement: real file, manual clock, scripted far ends.

mod central;
mod engine;
mod forward;
mod lifecycle;
mod parked;
mod script;
mod status;
mod world;
