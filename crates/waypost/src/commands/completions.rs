//! `waypost completions`: for the shell.

use crate::cli::Cli;
use clap::CommandFactory;
use clap_complete::Shell;

/// Print a completion script for a shell
///
/// For bash: `source <(waypost completions bash)`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which shell
    shell: Shell,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "waypost", &mut script);
    Ok(std::io::Write::write_all(&mut std::io::stdout().lock(), &script)?)
}
