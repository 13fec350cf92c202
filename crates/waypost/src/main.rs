//! The binary: reads configuration, wires everything, owns signals.
//!
//! `cli` says what can be asked for, `commands` has one file for each of them, `config` what can be set, `wiring`
//! puts a node together, `output` is how answers look.
//! Leaves to others: everything that happens to a notification (`central`), HTTP (`web`), asking central (`client`).

mod cli;
mod commands;
mod config;
mod connect;
#[cfg(test)]
mod documented;
mod exit;
mod filters;
mod output;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::read();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::report(&anyhow::Error::new(error).context("no threads to work with")),
    };
    // On the workers, where everything else runs: a thread of its own would have to be woken for each turn.
    let result = match runtime.block_on(runtime.spawn(cli.run())) {
        Ok(result) => result,
        Err(died) => Err(anyhow::Error::new(died)),
    };
    // What still hangs in a blocking call is not waited for: whoever had to finish has been waited for already.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::report(&error),
    }
}
