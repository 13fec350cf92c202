//! A store, a clock that is moved by hand, and the few moves every case is made of.

use domain::{
    Actor, Channel, Content, HoldReason, LaneId, LeaseToken, Limits, ManualClock, NotificationId,
    OnAmbiguous, ProviderId, RetryPolicy, Status, Submission, Target, TenantId,
};
use std::{any::Any, collections::BTreeMap, path::Path, sync::Arc, time::Duration};
use store::{
    Store,
    directory::{NewProvider, Provider},
    outbox::{
        AttemptAudit, AttemptRecord, Cause, Claimed, Ended, HoldLane, Ingested, LaneWant, NewNotification,
        Recorded,
    },
    query::Notification,
    sqlite::SqliteStore,
};

pub const TENANT: TenantId = TenantId::DEFAULT;
pub const LEASE: Duration = Duration::from_secs(60);
pub const SECOND: Duration = Duration::from_secs(1);
pub const MINUTE: Duration = Duration::from_secs(60);
pub const HOUR: Duration = Duration::from_secs(3600);
pub const DAY: Duration = Duration::from_secs(24 * 3600);

pub struct TestStore {
    pub store: Arc<dyn Store>,
    /// The store's clock.
    pub clock: Arc<ManualClock>,
    /// What must live as long as the store: its folder, its schema.
    _keep: Box<dyn Any + Send + Sync>,
}

pub async fn open_sqlite() -> TestStore {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let store = SqliteStore::open(&folder.path().join("waypost.db"), clock.clone()).unwrap();
    TestStore::new(Arc::new(store), clock, folder)
}

pub fn open_sqlite_at(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Arc::new(ManualClock::default())).unwrap()
}

pub fn admin() -> Actor {
    Actor::new("key:admin")
}

impl TestStore {
    pub fn new(store: Arc<dyn Store>, clock: Arc<ManualClock>, keep: impl Any + Send + Sync) -> Self {
        Self {
            store,
            clock,
            _keep: Box::new(keep),
        }
    }

    /// What holds after every case.
    pub async fn check(&self) {
        if self.store.ping().await.is_ok() {
            assert_eq!(
                self.store.misplaced().await.unwrap(),
                0,
                "in neither or both of due and outcome"
            );
        }
    }

    /// A lane with an e-mail provider of that name.
    pub async fn lane(&self, name: &str) -> LaneId {
        self.provider(TENANT, name).await.lane
    }

    pub async fn provider(&self, tenant: TenantId, name: &str) -> Provider {
        let new = new_provider(tenant, name);
        self.store.put_provider(&new, None, &admin()).await.unwrap()
    }

    pub async fn tenant(&self, name: &str) -> TenantId {
        self.store.create_tenant(name, &admin()).await.unwrap().id
    }

    pub async fn ingest(&self, lane: LaneId, submissions: Vec<Submission>) -> Vec<Ingested> {
        let batch = submissions
            .into_iter()
            .map(|submission| NewNotification { submission, lane })
            .collect();
        self.store.ingest(batch).await.unwrap()
    }

    pub async fn ingest_one(&self, lane: LaneId, submission: Submission) -> Ingested {
        let mut answers = self.ingest(lane, vec![submission]).await;
        assert_eq!(answers.len(), 1);
        answers.remove(0)
    }

    /// Takes in one that must be accepted.
    pub async fn accept(&self, lane: LaneId, submission: Submission) -> NotificationId {
        let id = submission.id;
        let answer = self.ingest_one(lane, submission).await;
        assert!(answer.is_new(), "{answer:?}");
        id
    }

    pub async fn send(&self, lane: LaneId) -> NotificationId {
        self.accept(lane, mail()).await
    }

    pub async fn send_many(&self, lane: LaneId, n: usize) -> Vec<NotificationId> {
        let batch: Vec<_> = (0..n).map(|_| mail()).collect();
        let ids = batch.iter().map(|s| s.id).collect();
        let answers = self.ingest(lane, batch).await;
        assert!(answers.iter().all(|a| *a == Ingested::Accepted));
        ids
    }

    pub async fn claim(&self, lane: LaneId, n: u32) -> Vec<Claimed> {
        let want = LaneWant { lane, n };
        let claims = self.store.claim_due(&[want], LeaseToken::mint(), LEASE).await;
        claims.unwrap().rows
    }

    pub async fn claim_one(&self, lane: LaneId) -> Claimed {
        let mut rows = self.claim(lane, 1).await;
        assert_eq!(rows.len(), 1, "one row should have been due");
        rows.remove(0)
    }

    pub async fn record(&self, record: AttemptRecord) -> Recorded {
        let answers = self.store.record([record].into()).await.unwrap();
        assert_eq!(answers.len(), 1);
        answers[0]
    }

    /// Sends one and has its only attempt end in the parking lot.
    pub async fn parked(&self, lane: LaneId) -> NotificationId {
        let id = self.send(lane).await;
        let claimed = self.claim_one(lane).await;
        assert_eq!(claimed.id, id, "nothing else may be due in the lane");
        assert_eq!(self.record(park(&claimed)).await, Recorded::Done);
        id
    }

    pub async fn delivered(&self, lane: LaneId) -> NotificationId {
        let id = self.send(lane).await;
        let claimed = self.claim_one(lane).await;
        assert_eq!(claimed.id, id, "nothing else may be due in the lane");
        assert_eq!(self.record(delivered(&claimed)).await, Recorded::Done);
        id
    }

    pub async fn get(&self, id: NotificationId) -> Notification {
        self.store
            .get(TENANT, id)
            .await
            .unwrap()
            .expect("it was taken in")
    }

    pub async fn status(&self, id: NotificationId) -> Status {
        self.get(id).await.status
    }
}

/// An e-mail nobody has sent before.
pub fn mail() -> Submission {
    let content = Content {
        channel: Some(Channel::Email),
        target: Target::List("ops".into()),
        subject: "Tank 7 is full".into(),
        body: "Level 98 %".into(),
        ..Content::default()
    };
    Submission::new(TENANT, NotificationId::mint(), Actor::new("key:line-4"), content)
}

/// The same with other content.
pub fn saying(mut submission: Submission, change: impl FnOnce(&mut Content)) -> Submission {
    change(&mut submission.content);
    submission
}

pub fn from_site(site: &str) -> Submission {
    let mut submission = mail();
    submission.provenance.site = Some(site.into());
    submission
}

pub fn new_provider(tenant: TenantId, name: &str) -> NewProvider {
    NewProvider {
        tenant,
        id: ProviderId::new(name),
        name: name.to_uppercase(),
        kind: "smtp".into(),
        channel: Channel::Email,
        enabled: true,
        order: 0,
        settings: serde_json::Map::from_iter([("host".into(), "mail.example.com".into())]),
        secrets: BTreeMap::from([("password".into(), "sealed".into())]),
        retry: RetryPolicy::email(),
        limits: Limits::default(),
        on_ambiguous: OnAmbiguous::Resend,
    }
}

fn own_code(cause: Cause, own: &str) -> Cause {
    Cause {
        provider_code: Some(own.into()),
        ..cause
    }
}

fn record(claimed: &Claimed, ended: Ended) -> AttemptRecord {
    AttemptRecord {
        lease: claimed.lease,
        tenant: claimed.tenant,
        id: claimed.id,
        resolved_targets: match ended {
            Ended::Delivered { .. } => vec!["ops@example.com".into()],
            Ended::Park { .. } => vec!["gone@example.com".into()],
            Ended::Retry { .. } | Ended::Postpone { .. } | Ended::Wait { .. } | Ended::Discard { .. } => {
                vec![]
            }
        },
        ended,
        recipients: vec![],
        messages: vec![],
        attempt: Some(AttemptAudit {
            target: "mail".into(),
            duration_ms: 12,
            code: None,
            provider_code: None,
            detail: Some("250 ok".into()),
            transcript: None,
        }),
        after_interruption: claimed.interruptions > 0,
        in_doubt: claimed.interruptions > 0,
    }
}

pub fn delivered(claimed: &Claimed) -> AttemptRecord {
    let ended = Ended::Delivered {
        provider_message_id: Some("remote-1".into()),
    };
    record(claimed, ended)
}

pub fn retry(claimed: &Claimed, after: Duration) -> AttemptRecord {
    let ended = Ended::Retry {
        after,
        unknown: false,
        cause: own_code(Cause::new("SMTP_451", "greylisted"), "4.7.1"),
    };
    record(claimed, ended)
}

pub fn postpone(claimed: &Claimed, after: Duration) -> AttemptRecord {
    let ended = Ended::Postpone {
        after,
        cause: Cause::new("OUTSIDE_HOURS", "not now"),
    };
    record(claimed, ended)
}

pub fn wait(claimed: &Claimed) -> AttemptRecord {
    let ended = Ended::Wait {
        cause: Cause::new("SMTP_535", "password refused"),
    };
    record(claimed, ended)
}

pub fn park(claimed: &Claimed) -> AttemptRecord {
    let ended = Ended::Park {
        cause: own_code(Cause::new("SMTP_550", "no such user"), "5.1.1"),
    };
    record(claimed, ended)
}

pub fn hold(lane: LaneId, reason: HoldReason) -> HoldLane {
    HoldLane {
        lane,
        config_version: None,
        reason,
        detail: Some("535 5.7.8".into()),
        code: Some("SMTP_535".into()),
        probe_after: reason.is_probed().then_some(MINUTE),
        actor: Actor::system(),
    }
}
