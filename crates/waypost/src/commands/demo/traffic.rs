//! Sample traffic, a message a second, until somebody presses Ctrl-C.

use super::{far_ends::GREYLISTED, world::World};
use client::Notification;
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

pub async fn until_interrupted(world: &World) -> anyhow::Result<()> {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    for n in 0usize.. {
        tokio::select! {
            biased;
            interrupted = tokio::signal::ctrl_c() => return Ok(interrupted?),
            _ = tick.tick() => {}
        }
        let notification = sample(n)
            .subject(SUBJECTS[n % SUBJECTS.len()])
            .site(SITES[n % SITES.len()]);
        let accepted = world
            .client
            .submit(&notification.body("Sent by the demo."))
            .await?;
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

fn sample(n: usize) -> Notification {
    match n % 20 {
        3 => Notification::to_list("crew"),
        7 => Notification::to([GREYLISTED]),
        11 | 17 => Notification::by_provider("flaky"),
        13 => Notification::by_provider("strict"),
        19 => Notification::by_provider("tray"),
        _ => Notification::to_list("ops"),
    }
}
