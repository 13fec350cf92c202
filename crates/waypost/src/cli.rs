//! What can be asked for on the command line.

use crate::commands::{
    audit, backup, bench, cancel, completions, config, demo, discard, doctor, event, healthcheck, jobs, key,
    kpi, list, lists, migrate, notify, parked, provider, purge, resend, retry, serve, show, simulate, site,
    sites, status, suppression, tail, template, tenant, try_now, user, waiting,
};
use clap::{
    Args, CommandFactory, Parser, Subcommand,
    error::{ContextKind, ContextValue},
};
use std::{ffi::OsString, path::PathBuf};

/// Delivers notifications that must not get lost.
///
/// `waypost serve` runs central, `waypost site` a site's agent; the other commands talk to central (WAYPOST_URL, WAYPOST_API_KEY) or, where they say
/// so, work on its database.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 conflict (the state does not allow it),
/// 5 central unreachable.
#[derive(Debug, Parser)]
#[command(
    name = "waypost",
    version,
    arg_required_else_help = true,
    subcommand_required = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

impl Cli {
    /// What this process was asked for. Help and mistakes are answered here, and end it.
    pub fn read() -> Self {
        Self::try_parse().unwrap_or_else(|error| with_usage(error, std::env::args_os()).exit())
    }
}

/// Beside a mistake stands how the command is used, not what the environment has set: a `--url` that comes from
/// WAYPOST_URL would look as if it had to be given.
fn with_usage(mut error: clap::Error, line: impl IntoIterator<Item = OsString>) -> clap::Error {
    if error.get(ContextKind::Usage).is_none() {
        return error;
    }
    let mut asked = Cli::command();
    asked.build();
    for word in line.into_iter().skip(1) {
        // A flag that is true for every command may stand before it, with its value.
        if let Some(found) = asked.find_subcommand(&word) {
            asked = found.clone();
        }
    }
    let usage = asked.render_usage();
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    error
}

/// What is true for every command.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The configuration file; waypost.toml in the current folder if there is one
    #[arg(
        long,
        value_name = "FILE",
        env = "WAYPOST_CONFIG",
        global = true,
        hide_env_values = true
    )]
    pub config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Site(site::Args),
    /// Show everything working in one process, on a temporary database
    Demo(demo::Args),
    Notify(notify::Args),
    Status(status::Args),
    List(list::Args),
    Show(show::Args),
    Retry(retry::Args),
    Discard(discard::Args),
    /// Try a waiting notification now instead of later
    Try(try_now::Args),
    Cancel(cancel::Args),
    Resend(resend::Args),
    Jobs(jobs::Args),
    Kpi(kpi::Args),
    Tail(tail::Args),
    /// Set up, try out, hold and resume providers
    #[command(subcommand)]
    Provider(provider::Command),
    /// Manage notification lists
    #[command(subcommand)]
    Lists(lists::Command),
    /// Keep templates in files: push, pull, list, preview
    #[command(subcommand)]
    Template(template::Command),
    /// Tell that something happened, and see what became of it
    #[command(subcommand)]
    Event(event::Command),
    /// Manage who must not be written to
    #[command(subcommand)]
    Suppression(suppression::Command),
    /// Manage API keys
    #[command(subcommand)]
    Key(key::Command),
    /// Manage who signs in to the console, on the database itself
    #[command(subcommand)]
    User(user::Command),
    Sites(sites::Args),
    Parked(parked::Args),
    Waiting(waiting::Args),
    /// Manage tenants (role ops)
    #[command(subcommand)]
    Tenant(tenant::Command),
    Audit(audit::Args),
    Doctor(doctor::Args),
    Migrate(migrate::Args),
    Purge(purge::Args),
    /// Write, check and show the configuration
    #[command(subcommand)]
    Config(config::Command),
    Backup(backup::Args),
    Simulate(simulate::Args),
    /// Measure how fast it is on this machine, beside what the machine can do at most
    Bench(bench::Args),
    Healthcheck(healthcheck::Args),
    Completions(completions::Args),
}

impl Cli {
    pub async fn run(self) -> anyhow::Result<()> {
        let global = &self.global;
        match self.command {
            Command::Serve(args) => Box::pin(serve::run(args, global)).await,
            Command::Site(args) => Box::pin(site::run(args, global)).await,
            Command::Sites(args) => Box::pin(sites::run(args)).await,
            Command::Parked(args) => Box::pin(parked::run(args)).await,
            Command::Waiting(args) => Box::pin(waiting::run(args)).await,
            Command::Demo(args) => Box::pin(demo::run(args)).await,
            Command::Notify(args) => Box::pin(notify::run(args)).await,
            Command::Status(args) => Box::pin(status::run(args)).await,
            Command::List(args) => Box::pin(list::run(args)).await,
            Command::Show(args) => Box::pin(show::run(args)).await,
            Command::Retry(args) => Box::pin(retry::run(args)).await,
            Command::Discard(args) => Box::pin(discard::run(args)).await,
            Command::Try(args) => Box::pin(try_now::run(args)).await,
            Command::Jobs(args) => Box::pin(jobs::run(args)).await,
            Command::Cancel(args) => Box::pin(cancel::run(args)).await,
            Command::Resend(args) => Box::pin(resend::run(args)).await,
            Command::Kpi(args) => Box::pin(kpi::run(args)).await,
            Command::Tail(args) => Box::pin(tail::run(args)).await,
            Command::Provider(command) => Box::pin(provider::run(command, global)).await,
            Command::Lists(command) => Box::pin(lists::run(command)).await,
            Command::Template(command) => Box::pin(template::run(command)).await,
            Command::Event(command) => Box::pin(event::run(command, global)).await,
            Command::Suppression(command) => Box::pin(suppression::run(command)).await,
            Command::Key(command) => Box::pin(key::run(command, global)).await,
            Command::User(command) => Box::pin(user::run(command, global)).await,
            Command::Tenant(command) => Box::pin(tenant::run(command)).await,
            Command::Audit(args) => Box::pin(audit::run(args)).await,
            Command::Doctor(args) => Box::pin(doctor::run(args)).await,
            Command::Migrate(args) => Box::pin(migrate::run(args, global)).await,
            Command::Purge(args) => Box::pin(purge::run(args, global)).await,
            Command::Config(command) => Box::pin(config::run(command, global)).await,
            Command::Backup(args) => Box::pin(backup::run(args, global)).await,
            Command::Simulate(args) => Box::pin(simulate::run(args)).await,
            Command::Bench(args) => Box::pin(bench::run(args)).await,
            Command::Healthcheck(args) => Box::pin(healthcheck::run(args)).await,
            Command::Completions(args) => completions::run(args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_defined_soundly() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_is_for() {
        fn check(command: &clap::Command) {
            assert!(
                command.get_about().is_some(),
                "{} has no help",
                command.get_name()
            );
            for arg in command.get_arguments() {
                assert!(
                    arg.get_help().is_some(),
                    "{}: {} has no help",
                    command.get_name(),
                    arg.get_id()
                );
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
