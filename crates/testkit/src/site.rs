//! A site made of nothing, for whoever tests what is at the other end of the link; and things a site sends.

use async_trait::async_trait;
use domain::{
    Channel, Content, NotificationId, ProviderId, Target, Timestamp, TrackedOperationId,
    pair::Rank,
    site::{Category, OperationEvent, OperationStatus, Telemetry, WaitingStatus},
};
use link::{
    BulkDone, BulkStep, Forward, NotHolder, PairReport, ParkedActed, ParkedAnswer, ParkedCount, ParkedFilter,
    ParkedMessage, ParkedPage, SiteCommands, SiteDamage, SiteReport, WaitingActed, WaitingAnswer,
    WaitingMessage, WaitingPage,
};
use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
};
use uuid::Uuid;

/// A site with one parked message, `p1`, and as many more as bulk actions are to find; `p1` can be retried, `p2` discarded. One,
/// `w1`, waits: it can be tried, in vain; `w2` can be discarded.
#[derive(Debug, Default)]
pub struct ASite {
    pub asked: Mutex<Vec<String>>,
    pub many: Mutex<u64>,
    pub steps: Mutex<HashMap<(String, Option<String>), BulkDone>>,
    pub last_step: Mutex<Option<BulkStep>>,
    /// Steps that are done and whose answers get lost.
    pub lose_answers: AtomicU64,
    /// Its two machines, if it has two.
    pub pair: Mutex<Option<PairReport>>,
    /// The turn it is active in; none where it does not mind which one is meant.
    pub turn: Mutex<Option<Rank>>,
    /// A fault of its own keeps it from reporting.
    pub cannot_report: AtomicBool,
}

impl ASite {
    fn note(&self, asked: String) {
        self.asked.lock().expect("nobody panics with it").push(asked);
    }
}

#[async_trait]
impl SiteCommands for ASite {
    fn holds(&self, turn: Rank) -> Result<(), NotHolder> {
        let active_in = *self.turn.lock().expect("nobody panics with it");
        match active_in.is_none_or(|active_in| active_in == turn) {
            true => Ok(()),
            false => Err(NotHolder { turn: active_in }),
        }
    }

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
        self.note(format!("retry {id} by {by}"));
        Ok(if id == "p1" {
            ParkedActed::Done
        } else {
            ParkedActed::NotFound
        })
    }

    async fn discard(&self, id: &str, by: &str) -> Result<ParkedActed, String> {
        self.note(format!("discard {id} by {by}"));
        Ok(if id == "p2" {
            ParkedActed::Done
        } else {
            ParkedActed::WrongState
        })
    }

    async fn waiting(&self, page: WaitingPage) -> Result<WaitingAnswer, String> {
        if page.after.is_some() {
            return Err("that cursor is not mine".into());
        }
        Ok(WaitingAnswer {
            messages: vec![a_waiting_message()],
            next: None,
            total: 1,
        })
    }

    async fn try_waiting(&self, id: &str, by: &str) -> Result<WaitingActed, String> {
        self.note(format!("try waiting {id} by {by}"));
        Ok(match id {
            "w1" => WaitingActed::Done {
                status: WaitingStatus::Retrying,
                error: Some("HTTP_503: busy".into()),
            },
            // An attempt that does not end.
            "hanging" => std::future::pending().await,
            _ => WaitingActed::NotFound,
        })
    }

    async fn discard_waiting(&self, id: &str, by: &str) -> Result<WaitingActed, String> {
        self.note(format!("discard waiting {id} by {by}"));
        Ok(match id {
            "w2" => WaitingActed::Done {
                status: WaitingStatus::Discarded,
                error: None,
            },
            _ => WaitingActed::WrongState("it is being tried right now".into()),
        })
    }

    async fn count_parked(&self, filter: ParkedFilter) -> Result<ParkedCount, String> {
        if filter.target.as_deref() == Some("nowhere") {
            return Err("target: nowhere is not known here".into());
        }
        let total = *self.many.lock().expect("nobody panics with it");
        Ok(ParkedCount { total, until: 7 })
    }

    async fn act_on_many(&self, step: BulkStep) -> Result<BulkDone, String> {
        *self.last_step.lock().expect("nobody panics with it") = Some(step.clone());
        let name = (step.job, step.after);
        let answer = {
            let mut many = self.many.lock().expect("nobody panics with it");
            let mut steps = self.steps.lock().expect("nobody panics with it");
            let act = || {
                self.note(format!(
                    "{} up to {} by {}",
                    step.action.word(),
                    step.limit,
                    step.by
                ));
                let done = u64::from(step.limit).min(*many);
                *many -= done;
                let next = (*many > 0).then(|| format!("{many} left"));
                BulkDone { done, next }
            };
            steps.entry(name).or_insert_with(act).clone()
        };
        let lose = |left: u64| left.checked_sub(1);
        if self.lose_answers.fetch_update(SeqCst, SeqCst, lose).is_ok() {
            std::future::pending().await
        }
        Ok(answer)
    }

    async fn report(&self) -> SiteReport {
        assert!(!self.cannot_report.load(SeqCst), "a fault of the site's own");
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
            pair: self.pair.lock().expect("nobody panics with it").clone(),
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
        summary: Some("POST /orders".into()),
    }
}

pub fn a_waiting_message() -> WaitingMessage {
    WaitingMessage {
        id: "w1".into(),
        category: Category::ExternalSystem,
        target: "mes".into(),
        retry_count: 2,
        max_retries: 50,
        created_at: Timestamp::from_millis(1),
        last_attempt_at: Some(Timestamp::from_millis(2)),
        due_at: Timestamp::from_millis(3),
        last_error: Some("HTTP_503: busy".into()),
        instance: Some("line-2".into()),
        script: Some("batch.js".into()),
        summary: Some("PUT /batches".into()),
        held: Some("it has no lease".into()),
    }
}

pub fn a_forward() -> Forward {
    Forward {
        id: NotificationId::mint(),
        content: Content {
            channel: Some(Channel::Email),
            target: Target::List("ops".into()),
            subject: "Tank 4 is full".into(),
            body: "Level 98 %".into(),
            type_data: Some("{}".into()),
            ..Content::default()
        },
        instance: Some("line-1".into()),
        script: Some("tank.js".into()),
        execution: Some("e1".into()),
        parent_execution: None,
        site_enqueued_at: Timestamp::from_millis(1_767_225_600_000),
        trace: None,
    }
}

/// Every field says something.
pub fn a_full_forward() -> Forward {
    let text = |text: &str| Some(text.to_owned());
    Forward {
        content: Content {
            channel: Some(Channel::Sms),
            provider: Some(ProviderId::new("modem")),
            target: Target::Recipients(vec!["+491511234567".into()]),
            subject: "Tank 4 is full".into(),
            body: "Level 98 %".into(),
            body_html: text("<p>Level 98 %</p>"),
            type_data: text(r#"{"a":1}"#),
            entity_type: text("tank"),
            entity_id: text("4"),
            rule_name: text("High level"),
            rule_id: text("r7"),
            run_id: text("run-1"),
            supersedes_key: text("tank-4:level"),
            send_at: Some(Timestamp::from_millis(1_767_225_700_000)),
            expires_at: Some(Timestamp::from_millis(1_767_225_800_000)),
            // Central alone knows of events.
            event: None,
        },
        parent_execution: text("e0"),
        trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            .parse()
            .ok(),
        ..a_forward()
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
