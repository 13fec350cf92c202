//! `waypost healthcheck`: one line and an exit code.

use crate::{connect::Connect, output};

/// Say whether central is well; for containers and supervisors
///
/// Exit code 0 if central is well, 1 if it is not, 5 if it does not answer. Needs no key.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also ask whether it can take work: whether its database answers, and it is not stopping
    #[arg(long)]
    ready: bool,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let client = args.central.anonymous()?;
    client.healthz().await?;
    if !args.ready {
        return match args.format.json {
            true => output::json(&serde_json::json!({ "alive": true })),
            false => output::line("alive"),
        };
    }
    let readiness = client.readyz().await?;
    if args.format.json {
        output::json(&readiness)?;
    } else {
        for check in &readiness.checks {
            let state = if check.ok { "ok" } else { "not ok" };
            let line = format!(
                "{}: {state} {}",
                check.name,
                check.detail.as_deref().unwrap_or("")
            );
            output::line(line.trim_end())?;
        }
    }
    match readiness.ready {
        true => Ok(()),
        false => anyhow::bail!("central is not ready"),
    }
}
