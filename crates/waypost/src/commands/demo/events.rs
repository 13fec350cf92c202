//! Events of the demo: a machine that runs hot becomes an e-mail and a message in a chat, by templates.

use super::{tour::TOUR_TIMEOUT, world::World};
use client::{
    Client, TemplateDraft,
    events::{EventFilter, EventId, NewEvent, ScheduleRow},
};
use domain::ScheduleStatus;
use serde_json::json;
use std::time::Duration;

const MACHINE_HOT: &str = "machine.hot";

/// The event type, and what it says in each channel.
pub async fn set_up(client: &Client) -> anyhow::Result<()> {
    let definition = json!({
        "dedupe": "event", "addresses": { "Email": "shift.email" }, "required": ["celsius"], "expiresAfter": "1h",
    });
    client.put_event_type(MACHINE_HOT, &definition).await?;
    let mail = json!({
        "eventType": MACHINE_HOT, "channel": "Email", "subject": "{{machine.name}} runs hot",
        "body": "{{machine.name}} has {{celsius}} °C since {{since | %H:%M}}.\nOn shift: {{shift.name}}.",
        "bodyHtml": "<p><b>{{machine.name}}</b> has {{celsius}} °C since {{since | %H:%M}}.</p><p>On shift: {{shift.name}}.</p>",
    });
    let chat = json!({
        "eventType": MACHINE_HOT, "channel": "Slack", "body": "{{machine.name}}: {{celsius}} °C",
    });
    for template in [mail, chat] {
        let template: TemplateDraft = serde_json::from_value(template)?;
        client.create_template(&template).await?;
    }
    Ok(())
}

/// A machine runs hot.
pub async fn emit(client: &Client, n: usize) -> client::Result<EventId> {
    let payload = json!({
        "machine": { "name": format!("Press {}", n % 5 + 1) }, "celsius": 81 + n % 17, "since": "2026-03-15T06:40:00Z",
        "shift": { "name": "Ann", "email": "ann@plant.example" },
    });
    let payload = payload.as_object().cloned().unwrap_or_default();
    let event = NewEvent {
        topic: Some("machines".into()),
        ..NewEvent::new(MACHINE_HOT, format!("press-{}", n % 5 + 1), payload)
    };
    Ok(client.emit(&event).await?.event_id)
}

/// What the tour shows of events; whether it went as it should.
pub async fn tour(world: &World) -> anyhow::Result<bool> {
    let id = emit(&world.client, 6).await?;
    let found = tokio::time::timeout(TOUR_TIMEOUT, completed(&world.client, id)).await;
    let Ok(schedule) = found else {
        println!("The event {MACHINE_HOT} did not become messages within three minutes.\n");
        return Ok(false);
    };
    let schedule = schedule?;
    let channels: Vec<_> = schedule.messages.iter().map(|m| m.channel.to_string()).collect();
    println!(
        "The event {MACHINE_HOT} became {} messages by templates, all delivered: {}.\n",
        channels.len(),
        channels.join(", ")
    );
    Ok(channels.len() == 2)
}

async fn completed(client: &Client, id: EventId) -> client::Result<ScheduleRow> {
    let all = EventFilter {
        status: Some("Completed".into()),
        ..EventFilter::default()
    };
    loop {
        let rows = client.schedules(&all, 100).await?;
        let ours = rows
            .into_iter()
            .find(|row| row.id == id && row.status == ScheduleStatus::Completed);
        if let Some(row) = ours {
            return Ok(row);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
