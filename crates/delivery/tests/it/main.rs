//! Adapters against real sockets: the simulator plays the far end.

mod contract;
mod smtp_faults;
mod smtp_login;
mod smtp_mail;
mod webhook;
mod world;
