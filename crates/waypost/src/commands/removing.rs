//! Before something is removed: what hangs on it is told, and the person is asked.

use crate::output::{self, ask, time};
use client::{Client, Removable, Usage};

#[derive(Debug, clap::Args)]
pub struct Sure {
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl Sure {
    /// Whether to go on. Nobody who says `--yes` is told.
    pub async fn confirm(self, client: &Client, of: Removable<'_>, question: &str) -> anyhow::Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let told = in_words(&client.usage(of).await?);
        let sure = ask::confirm(&format!("{told} {question}"), false)?;
        if !sure {
            output::note("nothing was removed");
        }
        Ok(sure)
    }
}

fn in_words(usage: &Usage) -> String {
    let hangs = match usage.words() {
        Some(words) => format!("Hanging on it: {words}."),
        None => "Nothing hangs on it.".to_owned(),
    };
    match usage.last_used_at {
        Some(at) => format!("{hangs} Last used {}.", time::short(at)),
        None => format!("{hangs} Not used lately."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::Timestamp;

    #[test]
    fn what_hangs_on_it_and_when_it_was_used_is_told() {
        assert_eq!(
            in_words(&Usage::default()),
            "Nothing hangs on it. Not used lately."
        );
        let used = Usage {
            schedules: 1,
            last_used_at: Some(Timestamp::EPOCH),
            ..Usage::default()
        };
        let told = in_words(&used);
        assert!(
            told.starts_with("Hanging on it: 1 schedule that waits. Last used "),
            "{told}"
        );
    }
}
