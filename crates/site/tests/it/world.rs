//! What every test here starts from.

use crate::{
    central::Central,
    script::{Reply, Scripted},
};
use domain::{
    Actor, Content, ManualClock, NotificationId, SiteId, Target, TrackedOperationId,
    site::{Category, OperationStatus},
};
use site::{
    Agent, Handlers, Outgoing, SendOptions, Sent, Settings, Site, categories::CallPayload, engine::Swept,
    payload,
};
use std::{sync::Arc, time::Duration};
use store::{
    Buffer,
    buffer::{Message, MessageId, Options, Origin, Tracking, What},
};
use testkit::Folder;
use tokio::task::JoinHandle;

pub fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub fn somebody() -> Actor {
    Actor::new("user:anna")
}

/// A site without its loops: tests call `sweep` themselves.
pub struct World {
    pub clock: Arc<ManualClock>,
    pub site: Arc<Site>,
    pub systems: Scripted,
    pub central: Arc<Central>,
    /// Last, so that it goes when nobody writes into it any more.
    pub folder: Folder,
}

impl World {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = Folder::of_this_test();
        let clock = Arc::new(ManualClock::default());
        Self::over(folder, clock, Scripted::new(), Arc::new(Central::new()), change)
    }

    fn over(
        folder: Folder,
        clock: Arc<ManualClock>,
        systems: Scripted,
        central: Arc<Central>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let mut settings = Settings::of(SiteId::new("north"));
        change(&mut settings);
        let options = Options {
            node: "node-a".into(),
            ..Options::at(folder.path().join("sf.db"))
        };
        let buffer = Arc::new(Buffer::open(&options, clock.clone()).unwrap());
        let handlers = Handlers::default()
            .register(Category::ExternalSystem, Arc::new(systems.clone()))
            .register(Category::CachedDbWrite, Arc::new(systems.clone()));
        let site = Site::new(settings, buffer, handlers, clock.clone());
        site.connect(central.clone());
        Self {
            folder,
            clock,
            site,
            systems,
            central,
        }
    }

    /// The process ends without warning and is started again.
    pub async fn crash(self) -> Self {
        let Self {
            folder,
            clock,
            site,
            systems,
            central,
        } = self;
        site.buffer.close().await;
        drop(site);
        Self::over(folder, clock, systems, central, |_| {})
    }

    pub async fn start(&self) -> Agent {
        Agent::start(self.site.clone()).await.unwrap()
    }

    pub fn advance(&self, seconds: u64) {
        self.clock.advance(secs(seconds));
    }

    pub async fn notify(&self, subject: &str) -> NotificationId {
        let sent = self.site.send(a_notification(subject)).await.unwrap();
        assert!(sent.accepted && sent.was_buffered);
        NotificationId(sent.id.0)
    }

    pub async fn call(&self, system: &str) -> Sent {
        self.site.send(a_call(system)).await.unwrap()
    }

    /// A call that failed at once, and whose next try is at the gate of its system.
    pub async fn call_at_gate(&self, system: &str) -> (MessageId, Vec<JoinHandle<Swept>>) {
        self.systems.always(Reply::Transient);
        let id = self.call(system).await.id;
        self.systems.always(Reply::AtGate);
        self.advance(30);
        let lanes = self.site.engine.start_due().await.unwrap();
        self.systems.waiting(1).await;
        (id, lanes)
    }

    pub async fn sweep(&self) -> Swept {
        self.site.engine.sweep().await.unwrap()
    }

    pub async fn message(&self, id: MessageId) -> Option<Message> {
        self.site.buffer.message(id).await.unwrap()
    }

    pub async fn tracking(&self, id: MessageId) -> Tracking {
        let found = self.site.buffer.tracking(TrackedOperationId(id.0)).await.unwrap();
        found.expect("it is tracked")
    }

    pub async fn tracked_as(&self, id: MessageId) -> OperationStatus {
        self.tracking(id).await.status
    }

    /// The event log, oldest first.
    pub async fn events(&self) -> Vec<What> {
        let mut events: Vec<_> = self
            .site
            .buffer
            .events(None, 1_000)
            .await
            .unwrap()
            .into_iter()
            .map(|event| event.what)
            .collect();
        events.reverse();
        events
    }

    pub fn waiting(&self) -> u64 {
        self.site.buffer.depth().waiting()
    }

    pub fn parked(&self) -> u64 {
        self.site.buffer.depth().all_parked()
    }

    /// The gauge says what the file says.
    pub async fn assert_counted(&self) {
        let buffer = &self.site.buffer;
        assert_eq!(buffer.depth(), buffer.recount().await.unwrap());
    }
}

pub fn a_notification(subject: &str) -> Outgoing {
    let payload = payload::NotificationPayload {
        content: Content {
            target: Target::List("ops".into()),
            subject: subject.into(),
            body: "Level 98 %".into(),
            ..Content::default()
        },
        ..Default::default()
    };
    Outgoing {
        category: Category::Notification,
        target: "ops".into(),
        payload: payload::text(&payload),
        summary: None,
        origin: Origin {
            instance: Some("tank-4".into()),
            script: Some("levels".into()),
            execution: Some("run-1".into()),
            parent_execution: None,
        },
        options: SendOptions::default(),
    }
}

pub fn a_call(system: &str) -> Outgoing {
    let payload = CallPayload {
        method: "POST".into(),
        path: "/orders".into(),
        ..Default::default()
    };
    Outgoing {
        category: Category::ExternalSystem,
        target: system.into(),
        summary: Some(payload.summary()),
        payload: payload::text(&payload),
        origin: Origin::default(),
        options: SendOptions::default(),
    }
}

/// Waits until it is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    testkit::until(what, async || is_so()).await;
}
