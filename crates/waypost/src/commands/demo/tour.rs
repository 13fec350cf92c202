//! A fixed set of messages, each with the end it should come to; then a table of the ends they did come to.

use super::{far_ends::GREYLISTED, services, world::World};
use crate::output::table::{status, table};
use client::{Notification, NotificationId, NotificationRow, Status};
use comfy_table::Cell;
use std::{collections::HashMap, time::Duration};

/// How long the tour waits for what is certain to come, on a machine that may have other things to do.
pub const TOUR_TIMEOUT: Duration = Duration::from_secs(180);

/// One message of the tour.
struct Stop {
    about: &'static str,
    notification: Notification,
    ends_as: Status,
    /// Parked first, then sent round again by hand.
    requeued: bool,
}

fn stops() -> Vec<Stop> {
    let stop = |about, notification, ends_as| Stop {
        about,
        notification,
        ends_as,
        requeued: false,
    };
    let mail = |subject: &str| {
        Notification::to_list("ops")
            .subject(subject)
            .body("Sent by the demo.")
    };
    let hook = |provider: &str, subject: &str| {
        Notification::by_provider(provider)
            .subject(subject)
            .body("Sent by the demo.")
    };
    let mut stops = vec![
        stop(
            "e-mail to the list ops",
            mail("Tank 4 is full"),
            Status::Delivered,
        ),
        stop(
            "e-mail to the list ops",
            mail("Pump 2 restarted").key("demo:pump-2"),
            Status::Delivered,
        ),
        stop(
            "e-mail to the list ops",
            mail("Shift report").site("plant-north"),
            Status::Delivered,
        ),
        stop(
            "e-mail to the list night, one member answers 451 at first",
            Notification::to_list("night")
                .subject("Gate 3 is open")
                .body("Since 02:14."),
            Status::Delivered,
        ),
        stop(
            "e-mail to one address that answers 451 at first",
            Notification::to([GREYLISTED]).subject("Please call in").body("…"),
            Status::Delivered,
        ),
        stop(
            "e-mail to the list crew, one member does not exist",
            Notification::to_list("crew")
                .subject("Drill at noon")
                .body("Meet at the gate."),
            Status::Parked,
        ),
        stop(
            "webhook whose receiver answers 503 at first",
            hook("flaky", "Line 1 stopped"),
            Status::Delivered,
        ),
        stop(
            "webhook whose receiver answers 503 at first",
            hook("flaky", "Line 1 runs again"),
            Status::Delivered,
        ),
        stop("kept in the tray", hook("tray", "Try it out"), Status::Delivered),
    ];
    for message in services::messages() {
        stops.push(stop("a service that the demo plays", message, Status::Delivered));
    }
    stops.push(Stop {
        about: "webhook refused with 400, requeued after the receiver was mended",
        notification: hook("strict", "Recipe changed"),
        ends_as: Status::Delivered,
        requeued: true,
    });
    stops
}

/// Answers whether every message ended as it should.
pub async fn run(world: &World) -> anyhow::Result<bool> {
    println!(
        "Waypost demo tour: sending through HTTP, delivering by SMTP, webhook and {} services; some far ends fail on purpose.\n",
        services::kinds().count()
    );
    let client = &world.client;
    let before = services::kinds()
        .map(|kind| (kind, services::requests_to(world, kind)))
        .collect();
    let mut sent = vec![];
    for stop in stops() {
        let accepted = client.submit(&stop.notification).await?;
        sent.push((stop, accepted.notification_id));
    }
    let again = client
        .submit(
            &Notification::to_list("ops")
                .body("Sent by the demo.")
                .key("demo:pump-2"),
        )
        .await?;
    let mut well = again.duplicate;
    println!("The key demo:pump-2 was sent twice: one notification, told apart as a duplicate.");

    for (stop, id) in &sent {
        if stop.requeued {
            let parked = ended(world, *id).await?;
            well &= parked.status == Status::Parked;
            println!(
                "Parked: {} ({})",
                stop.about,
                parked.last_error.as_deref().unwrap_or("no reason")
            );
            world.far_ends.mend();
            client.retry(*id).await?;
            println!("The receiver was mended and the notification requeued.");
        }
    }
    println!();
    let mut rows = vec![];
    for (stop, id) in &sent {
        let row = ended(world, *id).await?;
        let arrived = arrived(world, &row, &before);
        // Nobody was killed and nothing was cut off in the tour: what arrives twice is a fault.
        let fine = row.status == stop.ends_as && arrived == row.resolved_targets.len().max(1) as u64;
        well &= fine;
        rows.push(vec![
            Cell::new(stop.about),
            Cell::new(row.subject.as_deref().unwrap_or_default()),
            Cell::new(row.provider.as_deref().unwrap_or_default()),
            Cell::new(row.retry_count),
            status(row.status),
            Cell::new(row.error_code.as_deref().unwrap_or("–")),
            Cell::new(reached(&row)),
            Cell::new(arrived),
            Cell::new(if fine { "yes" } else { "NO" }),
        ]);
    }
    let headers = [
        "what",
        "subject",
        "through",
        "attempts",
        "ended as",
        "code",
        "reached",
        "taken by far end",
        "as it should",
    ];
    println!("{}\n", table(&headers, rows));
    let caught = world.far_ends.mail.counts();
    println!(
        "The mail catcher took {} mails over {} connections.",
        caught.mails, caught.connections
    );
    if well {
        println!("Every message ended as it should.");
    }
    Ok(well)
}

fn reached(row: &NotificationRow) -> String {
    match row.resolved_targets.len() {
        0 => "–".into(),
        n => format!("{n}: {}", row.resolved_targets.join(", ")),
    }
}

/// How often the far end took it, over all recipients. Services are told no id of ours that all of them show: what they were asked for
/// before the tour is taken off.
fn arrived(world: &World, row: &NotificationRow, before: &HashMap<&str, u64>) -> u64 {
    let id = row.notification_id.to_string();
    match row.provider.as_deref() {
        Some("mail") => world
            .far_ends
            .mail
            .deliveries_of(&id)
            .iter()
            .map(|(_, n)| u64::from(*n))
            .sum(),
        Some("tray") => u64::from(row.status == Status::Delivered),
        Some(kind) if before.contains_key(kind) => {
            services::requests_to(world, kind).saturating_sub(before[kind])
        }
        _ => u64::from(world.far_ends.http.deliveries_of(&id)),
    }
}

/// Waits until nothing more happens to the notification by itself.
async fn ended(world: &World, id: NotificationId) -> anyhow::Result<NotificationRow> {
    let wait = async {
        loop {
            let row = world.client.notification(id).await?;
            if row.status.is_terminal() {
                return Ok(row);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    match tokio::time::timeout(TOUR_TIMEOUT, wait).await {
        Ok(row) => row,
        Err(_) => anyhow::bail!(
            "notification {id} did not end within {} s",
            TOUR_TIMEOUT.as_secs()
        ),
    }
}
