//! Sample traffic, a message a second, until the demo is stopped.

use super::{events, far_ends::GREYLISTED, services, world::World};
use client::{Notification, site::Notify};
use std::time::Duration;

const SUBJECTS: [&str; 6] = [
    "Tank 4 is full",
    "Pump 2 restarted",
    "Gate 3 is open",
    "Line 1 stopped",
    "Shift report",
    "Filter due",
];
const SITES: [&str; 3] = ["plant-north", "plant-south", "harbour"];

pub async fn go_on(world: &mut World) -> anyhow::Result<()> {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    for n in 0usize.. {
        tick.tick().await;
        let notification = sample(n)
            .subject(SUBJECTS[n % SUBJECTS.len()])
            .site(SITES[n % SITES.len()]);
        let accepted = world
            .client
            .submit(&notification.body("Sent by the demo."))
            .await?;
        from_sites(world, n).await?;
        if n % 12 == 5 {
            events::emit(&world.client, n).await?;
        }
        if n.is_multiple_of(10) {
            let kpis = world.client.kpis().await?;
            println!(
                "{} sent (last {}); waiting {}, parked {}, delivered in the last minute {}",
                n + 1,
                accepted.notification_id,
                kpis.queue_depth,
                kpis.parked_count,
                kpis.delivered_last_interval
            );
        }
    }
    Ok(())
}

/// Each site sends something every few seconds; the link of `plant-south` is away for ten of every forty, a machine of `plant-north`
/// for fourteen of every sixty.
async fn from_sites(world: &mut World, n: usize) -> anyhow::Result<()> {
    match n % 40 {
        20 => {
            world.sites.unplug().await;
            println!("plant-south has lost its link; what it sends waits there");
        }
        30 => {
            let waiting = world.sites.south.health().await?.waiting;
            world.sites.plug_in()?;
            println!("the link of plant-south is back; {waiting} waited");
        }
        _ => {}
    }
    match n % 60 {
        45 => {
            let (name, _, took) = world.sites.machines.fail_over().await?;
            println!(
                "a machine of plant-north was switched off; {name} took over after {} s",
                took.as_secs()
            );
        }
        59 => {
            world.sites.machines.switch_on().await?;
            println!("the other machine of plant-north is on again and follows");
        }
        _ => {}
    }
    if n.is_multiple_of(3) {
        let subject = SUBJECTS[n % SUBJECTS.len()];
        for site in [&world.sites.north, &world.sites.south] {
            Notify::to("ops").send(site, subject, "Sent by the demo.").await?;
        }
        let order = serde_json::json!({ "n": n });
        world
            .sites
            .north
            .call("erp")
            .post("/orders")
            .json(&order)
            .send()
            .await?;
    }
    Ok(())
}

fn sample(n: usize) -> Notification {
    if n % 4 == 2
        && let Some(message) = services::messages().nth(n / 4 % services::kinds().count())
    {
        return message;
    }
    match n % 20 {
        3 => Notification::to_list("crew"),
        7 => Notification::to([GREYLISTED]),
        11 | 17 => Notification::by_provider("flaky"),
        13 => Notification::by_provider("strict"),
        19 => Notification::by_provider("tray"),
        _ => Notification::to_list("ops"),
    }
}
