//! A site made of nothing, for whoever tests what is at the other end of the link; and things a site sends.

use async_trait::async_trait;
use domain::{
    NotificationId, Target, Timestamp, TrackedOperationId,
    site::{Category, OperationEvent, OperationStatus, Telemetry},
};
use link::{
    Forward, ParkedActed, ParkedAnswer, ParkedMessage, ParkedPage, SiteCommands, SiteDamage, SiteReport,
};
use std::sync::Mutex;
use uuid::Uuid;

/// A site with one parked message, `p1`.
#[derive(Debug, Default)]
pub struct ASite {
    pub asked: Mutex<Vec<String>>,
}

#[async_trait]
impl SiteCommands for ASite {
    async fn parked(&self, page: ParkedPage) -> Result<ParkedAnswer, String> {
        if page.after.is_some() {
            return Err("that cursor is not mine".into());
        }
        Ok(ParkedAnswer {
            messages: vec![a_parked_message()],
            next: None,
            total: 1,
        })
    }

    async fn retry(&self, id: &str, by: &str) -> Result<ParkedActed, String> {
        self.asked
            .lock()
            .expect("nobody panics with it")
            .push(format!("retry {id} by {by}"));
        Ok(if id == "p1" {
            ParkedActed::Done
        } else {
            ParkedActed::NotFound
        })
    }

    async fn discard(&self, id: &str, by: &str) -> Result<ParkedActed, String> {
        self.asked
            .lock()
            .expect("nobody panics with it")
            .push(format!("discard {id} by {by}"));
        Ok(ParkedActed::WrongState)
    }

    async fn report(&self) -> SiteReport {
        SiteReport {
            node: "n1".into(),
            backlog: [(Category::Notification, 7)].into(),
            parked: 1,
            damage: vec![SiteDamage {
                at: Timestamp::from_millis(3),
                what: "the buffer was damaged".into(),
                file: Some("/data/sf.db.damaged-1".into()),
                recovered: 40,
                lost: 2,
            }],
            forgotten_until: Some(Timestamp::from_millis(4)),
            ..SiteReport::default()
        }
    }
}

pub fn a_parked_message() -> ParkedMessage {
    ParkedMessage {
        id: "p1".into(),
        category: Category::ExternalSystem,
        target: "erp".into(),
        retry_count: 50,
        max_retries: 50,
        created_at: Timestamp::from_millis(1),
        last_attempt_at: Some(Timestamp::from_millis(2)),
        parked_at: None,
        last_error: Some("503".into()),
        instance: Some("line-1".into()),
        script: None,
    }
}

pub fn a_forward() -> Forward {
    Forward {
        id: NotificationId::mint(),
        target: Target::List("ops".into()),
        channel: Some("Email".into()),
        provider: None,
        subject: "Tank 4 is full".into(),
        body: "Level 98 %".into(),
        type_data: Some("{}".into()),
        instance: Some("line-1".into()),
        script: Some("tank.js".into()),
        execution: Some("e1".into()),
        parent_execution: None,
        site_enqueued_at: Timestamp::from_millis(1_767_225_600_000),
        trace: None,
    }
}

pub fn a_telemetry() -> Telemetry {
    Telemetry {
        id: Uuid::new_v4(),
        operation: TrackedOperationId::mint(),
        revision: 3,
        category: Category::CachedDbWrite,
        target: "mes".into(),
        summary: Some("insert into …".into()),
        event: OperationEvent::TransientFailure,
        status: OperationStatus::Retrying,
        retry_count: 1,
        error: Some("no route".into()),
        http_status: None,
        created_at: Timestamp::from_millis(5),
        occurred_at: Timestamp::from_millis(6),
        duration_ms: Some(12),
        instance: None,
        script: None,
        node: Some("n1".into()),
        execution: None,
        parent_execution: None,
        actor: None,
    }
}
