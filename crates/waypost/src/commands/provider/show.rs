//! How providers and their kinds are shown. Secrets come masked from central.

use super::{Captured, One, Plain};
use crate::output::{self, lanes, rows::cut, table, time};
use client::Provider;
use comfy_table::Cell;

pub async fn list(args: Plain) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let providers = client.providers().await?;
    if args.format.json {
        return output::json(&providers);
    }
    if providers.is_empty() {
        output::note(
            "no provider yet; `waypost provider kinds` lists what there is, `waypost provider add` sets one up",
        );
        return Ok(());
    }
    let lanes = client.lanes().await?;
    let rows = providers.iter().map(|p| {
        let lane = lanes.iter().find(|lane| lane.provider == p.id);
        vec![
            Cell::new(&p.id),
            Cell::new(&p.name),
            Cell::new(&p.kind),
            Cell::new(p.channel),
            Cell::new(p.order),
            Cell::new(lane.map_or_else(|| state(p), |lane| cut(&lanes::state(lane), 80))),
        ]
    });
    output::line(table(&["id", "name", "kind", "type", "order", "state"], rows).trim_fmt())
}

fn state(provider: &Provider) -> String {
    match &provider.hold {
        Some(hold) => format!("held: {}, since {}", hold.in_words(), time::short(hold.since)),
        None if provider.enabled => "in use".into(),
        None => "off".into(),
    }
}

/// A provider, and what it is doing.
pub async fn show(args: One) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let provider = client.provider(&args.id).await?;
    if args.format.json {
        return output::json(&provider);
    }
    say(&provider, args.format)?;
    let lanes = client.lanes().await?;
    match lanes.iter().find(|lane| lane.provider == provider.id) {
        Some(lane) => output::line(format_args!("  it is {}", lanes::state(lane))),
        None => Ok(()),
    }
}

pub fn say(provider: &Provider, format: output::Format) -> anyhow::Result<()> {
    if format.json {
        return output::json(provider);
    }
    output::line(format_args!(
        "{}  {} ({}, {})",
        provider.id,
        provider.name,
        provider.kind,
        state(provider)
    ))?;
    if let Some(detail) = provider.hold.as_ref().and_then(|hold| hold.detail.as_ref()) {
        output::line(format_args!("  {detail}"))?;
    }
    for (name, value) in &provider.settings {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // Of a certificate its first line; the rest is in --json.
        let more = if value.trim_end().contains('\n') {
            " …"
        } else {
            ""
        };
        let first = value.lines().next().unwrap_or_default();
        output::line(format_args!("  {name} = {first}{more}"))?;
    }
    output::line(format_args!(
        "  retry = {}\n  limits = {}\n  onAmbiguous = {}\n  order = {}",
        provider.retry, provider.limits, provider.on_ambiguous, provider.order
    ))?;
    for warning in &provider.warnings {
        output::note(format_args!("warning: {warning}"));
    }
    Ok(())
}

pub async fn kinds(args: Plain) -> anyhow::Result<()> {
    let kinds = args.central.client()?.provider_kinds().await?;
    if args.format.json {
        return output::json(&kinds);
    }
    for kind in kinds {
        output::line(format_args!("{}  {} ({})", kind.kind, kind.title, kind.channel))?;
        if let Some(setup) = &kind.setup {
            output::line(format_args!("  On the other side: {setup}"))?;
        }
        if kind
            .receipts
            .as_deref()
            .is_some_and(|receipts| receipts != "none")
        {
            output::line("  Tells later what became of a message: waypost provider callback ID")?;
        }
        for s in &kind.settings {
            let takes = s
                .choices
                .as_ref()
                .map_or_else(|| s.kind.clone(), |choices| choices.join("|"));
            let mark = [(s.required, "required"), (s.secret, "secret")];
            let marks = mark
                .iter()
                .filter(|(is, _)| *is)
                .map(|(_, word)| format!(", {word}"))
                .collect::<String>();
            let example = s
                .example
                .as_ref()
                .map_or_else(String::new, |e| format!(" Example: {e}"));
            let when = s.when.as_ref().map_or_else(String::new, |when| {
                format!(" Only where {} is {}.", when.setting, when.is.join(" or "))
            });
            output::line(format_args!(
                "  {} ({takes}{marks})  {}{example}{when}",
                s.name, s.help
            ))?;
        }
    }
    Ok(())
}

pub async fn captured(args: Captured) -> anyhow::Result<()> {
    let kept = args
        .central
        .client()?
        .captured(&args.id, args.limit as usize)
        .await?;
    if args.format.json {
        return output::json(&kept);
    }
    if kept.is_empty() {
        output::note(
            "nothing was captured since this node started; `waypost notify --provider ID --body TEXT` sends something to it",
        );
        return Ok(());
    }
    let rows = kept.iter().map(|m| {
        vec![
            Cell::new(time::short(m.created_at)),
            Cell::new(m.notification_id),
            Cell::new(output::rows::cut(&m.to.join(", "), 40)),
            Cell::new(output::rows::cut(&m.subject, 40)),
            Cell::new(output::rows::cut(&m.body, 60)),
        ]
    });
    output::line(table(&["created", "notification", "to", "subject", "body"], rows).trim_fmt())
}
