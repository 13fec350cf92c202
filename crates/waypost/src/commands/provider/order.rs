//! `waypost provider order`: who takes a type's notifications, and who takes over.

use crate::{
    connect::Connect,
    exit::usage,
    filters::channel,
    output::{self, table},
};
use client::{Channel, ChannelOrder};
use comfy_table::Cell;

#[derive(Debug, clap::Args)]
pub struct Order {
    /// Only this type
    #[arg(value_name = "TYPE", value_parser = channel)]
    channel: Option<Channel>,
    /// Whether what waits for a provider in trouble goes on to the next one of the type
    #[arg(long, value_name = "on|off", value_parser = on_or_off)]
    failover: Option<bool>,
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("must be on or off".into()),
    }
}

pub async fn order(args: Order) -> anyhow::Result<()> {
    let client = args.central.client()?;
    let orders = match (args.channel, args.failover) {
        (Some(channel), Some(failover)) => vec![client.put_channel(channel, failover).await?],
        (None, Some(_)) => {
            return Err(usage(
                "say of which type: waypost provider order Sms --failover on",
            ));
        }
        (wanted, None) => {
            let mut orders = client.channels().await?;
            orders.retain(|order| wanted.is_none_or(|wanted| wanted == order.channel));
            orders
        }
    };
    say(&orders, args.format)
}

fn say(orders: &[ChannelOrder], format: output::Format) -> anyhow::Result<()> {
    if format.json {
        return output::json(&orders);
    }
    if orders.is_empty() {
        output::note("no such provider yet; `waypost provider add` sets one up");
        return Ok(());
    }
    let rows = orders.iter().map(|order| {
        vec![
            Cell::new(order.channel),
            Cell::new(order.providers.join(", ")),
            Cell::new(if order.failover { "on" } else { "off" }),
        ]
    });
    output::line(table(&["type", "providers", "failover"], rows).trim_fmt())
}
