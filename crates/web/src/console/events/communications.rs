//! What one entity was told, by which message, and what it was not told and why: the panel of a booking.

use super::{TABS, csv, older};
use crate::{
    api::lists::encode,
    console::{
        failure::Result,
        filter::Query,
        frame::{Frame, Framed, Nav, framed},
        guard::Signed,
        show::{Badge, status_badge},
    },
    dto::communication::{CommunicationLog, logs},
    paging,
    query::Params,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use domain::{Channel, NotificationId, Status, event::limit};
use store::query::Page as PageRequest;

const ROWS: u32 = 50;

/// A thing that messages are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entity {
    pub kind: String,
    pub id: String,
}

impl Entity {
    pub fn query(&self) -> String {
        let mut query = Query::default();
        query.add("entityType", Some(&self.kind));
        query.add("entityId", Some(&self.id));
        query.0
    }
}

/// What can be sent once more: a channel's templates of the latest event, or one template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    channel: Channel,
    /// None stands for all of the channel.
    template: Option<String>,
    words: String,
}

#[derive(Template)]
#[template(path = "events/communications.html")]
struct Page {
    frame: Frame,
    /// None until somebody has said which.
    entity: Option<Entity>,
    typed: Entity,
    rows: Vec<CommunicationLog>,
    choices: Vec<Choice>,
    older: Option<String>,
    paged: bool,
    /// Makes a second press of the button harmless.
    request: String,
}
framed!(Page);

fn read(params: &mut Params) -> (Option<Entity>, Entity) {
    let typed = Entity {
        kind: params.text("entityType").unwrap_or_default().trim().to_owned(),
        id: params.text("entityId").unwrap_or_default().trim().to_owned(),
    };
    for (name, text) in [("entityType", &typed.kind), ("entityId", &typed.id)] {
        if text.chars().count() > limit::ENTITY {
            params.problem(name, format!("must be at most {} characters", limit::ENTITY));
        }
    }
    let whole = !typed.kind.is_empty() && !typed.id.is_empty();
    (whole.then(|| typed.clone()), typed)
}

pub async fn page(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let (entity, typed) = read(&mut params);
    let after = paging::cursor(&mut params);
    params.finish()?;
    let title = match &entity {
        Some(entity) => format!("{} {}", entity.kind, entity.id),
        None => "Communications".into(),
    };
    let frame = Frame::new(&state, &signed, title, Nav::Events).await?.live();
    let (mut rows, mut older_place) = (vec![], None);
    if let Some(entity) = &entity {
        let asking = PageRequest { limit: ROWS, after };
        let tenant = signed.caller.tenant;
        let events = &state.central.events;
        let found = events
            .communications(tenant, &entity.kind, &entity.id, asking)
            .await?;
        older_place = found
            .next
            .map(|next| older("/communications", &entity.query(), next));
        rows = logs(found);
    }
    let page = Page {
        choices: choices(&rows),
        older: older_place,
        paged: after.is_some(),
        request: NotificationId::mint().to_string(),
        frame,
        entity,
        typed,
        rows,
    };
    Ok(page.show(&state))
}

/// Everything sent about the entity, as a file.
pub async fn csv(State(state): State<Shared>, signed: Signed, mut params: Params) -> Result {
    let (entity, _) = read(&mut params);
    if entity.is_none() {
        params.problem("entityId", "give entityType and entityId");
    }
    params.finish()?;
    let entity = entity.unwrap_or_default();
    Ok(csv::communications(state, signed.caller.tenant, (entity.kind, entity.id)).await?)
}

/// What the rows were made of: each channel, and each template. What no event caused has none; its own page sends it again.
fn choices(rows: &[CommunicationLog]) -> Vec<Choice> {
    let mut all = vec![];
    for row in rows {
        let (Some(id), Some(event)) = (&row.template_id, &row.event_type) else {
            continue;
        };
        let name = row.template_name.as_deref().unwrap_or("default");
        all.push(Choice {
            channel: row.channel,
            template: None,
            words: format!("{}: all of the latest event", row.channel),
        });
        all.push(Choice {
            channel: row.channel,
            template: Some(id.clone()),
            words: format!("{}: {event}, {name}", row.channel),
        });
    }
    all.sort();
    all.dedup();
    all
}

impl Choice {
    /// As the form says it.
    fn value(&self) -> String {
        match &self.template {
            Some(id) => format!("{}:{id}", self.channel),
            None => self.channel.to_string(),
        }
    }
}

fn badge(row: &CommunicationLog) -> Badge {
    match row.status.parse::<Status>() {
        Ok(status) => status_badge(&status),
        Err(_) if row.status == "Refused" => Badge::REFUSED,
        Err(_) => Badge::SKIPPED,
    }
}

/// Why there is no time at which it was sent.
fn unsent(row: &CommunicationLog) -> &'static str {
    match row.status.parse::<Status>() {
        Ok(status) if !status.is_terminal() => "not yet",
        _ => "not sent",
    }
}

/// The template a message was made of, in the version that was filled in.
fn template_place(row: &CommunicationLog) -> Option<String> {
    let (id, version) = (row.template_id.as_ref()?, row.template_version?);
    Some(format!("/templates/{id}/versions/{version}"))
}

fn template_words(row: &CommunicationLog) -> String {
    let name = row.template_name.as_deref().unwrap_or("default");
    let version = row.template_version.unwrap_or_default();
    format!("{name}, version {version}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Timestamp;

    fn row(channel: Channel, template: Option<&str>) -> CommunicationLog {
        CommunicationLog {
            notification_id: None,
            channel,
            event_type: template.map(|_| "booking.confirmed".into()),
            event_id: None,
            template_id: template.map(str::to_owned),
            template_name: template.map(|_| "default".into()),
            template_version: Some(1),
            to_address: None,
            status: "Skipped".into(),
            sent_at: None,
            attempts: 0,
            last_error: None,
            receipt: None,
            provider: None,
            provider_message_id: None,
            correlation_id: None,
            idempotency_key: None,
            requested_by: "system".into(),
            created_at: Timestamp::EPOCH,
        }
    }

    #[test]
    fn each_channel_and_each_template_can_be_sent_again_once() {
        let rows = [
            row(Channel::Email, Some("7")),
            row(Channel::Sms, None),
            row(Channel::Email, Some("7")),
            row(Channel::Email, Some("8")),
        ];
        let values: Vec<_> = choices(&rows).iter().map(Choice::value).collect();
        assert_eq!(values, ["Email", "Email:7", "Email:8"]);
    }
}
