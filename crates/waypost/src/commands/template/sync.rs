//! A folder of templates and central, brought to agree: `pull` makes the folder like central, `push` central like the
//! folder. Neither deletes anything.

use super::{file, warn};
use crate::{connect::Connect, exit::conflict, output};
use anyhow::Context;
use client::{Client, Error, TemplateDraft, TemplateRow};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct Pull {
    /// The folder; made if it is not there
    folder: PathBuf,
    #[command(flatten)]
    central: Connect,
}

#[derive(Debug, clap::Args)]
pub struct Push {
    /// The folder
    folder: PathBuf,
    /// Save also what somebody else has changed since the file was pulled
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    central: Connect,
}

pub async fn pull(args: Pull) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let rows = client.templates(None, None).await?;
    let mut written = 0;
    std::fs::create_dir_all(&args.folder).with_context(|| args.folder.display().to_string())?;
    for row in &rows {
        let draft = client.template(row.id).await?.draft;
        let path = args.folder.join(file::path(&draft));
        if file::read(&path).ok().as_ref() != Some(&draft) {
            file::write(&path, &draft)?;
            output::line(format_args!("{}: version {}", path.display(), row.version))?;
            written += 1;
        }
    }
    output::note(format_args!("{} templates, {written} files written", rows.len()));
    Ok(())
}

/// What became of one file.
enum Pushed {
    Created,
    Saved(i64),
    Unchanged,
}

pub async fn push(args: Push) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let rows = client.templates(None, None).await?;
    let files = file::below(&args.folder)?;
    let mut refused = vec![];
    for path in &files {
        match push_one(&client, &rows, path, args.force).await {
            Ok(Pushed::Unchanged) => {}
            Ok(Pushed::Created) => output::line(format_args!("{}: created", path.display()))?,
            Ok(Pushed::Saved(version)) => {
                output::line(format_args!("{}: version {version}", path.display()))?
            }
            // The others are pushed all the same.
            Err(error) if error.downcast_ref::<Error>().is_some_and(is_conflict) => {
                output::note(format_args!("{}: {error}", path.display()));
                refused.push(path);
            }
            Err(error) => return Err(error.context(path.display().to_string())),
        }
    }
    output::note(format_args!("{} files, {} refused", files.len(), refused.len()));
    match refused.is_empty() {
        true => Ok(()),
        false => Err(conflict("pull what others have changed, or push with --force")),
    }
}

fn is_conflict(error: &Error) -> bool {
    matches!(error, Error::Conflict { .. })
}

/// Saves the file, and writes the version that it has now into it.
async fn push_one(client: &Client, rows: &[TemplateRow], path: &Path, force: bool) -> anyhow::Result<Pushed> {
    let draft = file::read(path)?;
    let Some(row) = rows.iter().find(|row| file::same_identity(&draft, row)) else {
        let new = TemplateDraft {
            version: None,
            ..draft
        };
        let made = client.create_template(&new).await?;
        warn(&made.warnings);
        file::write(path, &made.draft)?;
        return Ok(Pushed::Created);
    };
    let current = client.template(row.id).await?;
    if file::same(&draft, &current.draft) {
        return Ok(Pushed::Unchanged);
    }
    let based_on = draft.version.filter(|_| !force).or(current.draft.version);
    let saved = TemplateDraft {
        version: based_on,
        ..draft
    };
    let saved = client.save_template(row.id, &saved).await?;
    warn(&saved.warnings);
    file::write(path, &saved.draft)?;
    Ok(Pushed::Saved(saved.draft.version.unwrap_or_default()))
}
