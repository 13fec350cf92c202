//! What every test here starts from.

use central::{
    Central, Settings,
    dispatcher::{Dispatcher, Tally},
    ingest::Submitted,
    providers::ProviderDraft,
    secrets::Sealer,
};
use delivery::{Kind, Registry};
use domain::{Actor, Channel, Clock, NotificationId, ProviderId, Recipient, Status, TenantId};
use std::{sync::Arc, time::Duration};
use store::{
    directory::{List, Provider},
    query::{AuditRow, Notification},
};
use testkit::{FarEnd, TempStore, fixtures::ANotification};

pub const TENANT: TenantId = TenantId::DEFAULT;

pub struct World {
    pub temp: TempStore,
    pub central: Central,
    pub dispatcher: Dispatcher,
    pub mail: FarEnd,
    pub hook: FarEnd,
}

pub fn somebody() -> Actor {
    Actor::new("key:operator")
}

pub fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

impl World {
    /// A tenant with a list `ops` of one, a mail provider `mail` and a webhook provider `hook`.
    pub async fn new() -> Self {
        Self::with(Settings::named("node-1")).await
    }

    pub async fn with(settings: Settings) -> Self {
        let temp = TempStore::open();
        let mail = FarEnd::new("test-mail", Channel::Email);
        let hook = FarEnd::new("test-hook", Channel::Webhook);
        let world = Self::over(temp, mail, hook, settings, Sealer::ephemeral());
        world.list("ops", &["ops@example.com"]).await;
        world.provider("mail", "test-mail", |_| {}).await;
        world.provider("hook", "test-hook", |_| {}).await;
        world
    }

    pub fn over(temp: TempStore, mail: FarEnd, hook: FarEnd, settings: Settings, sealer: Sealer) -> Self {
        Self::with_kinds(temp, mail, hook, vec![], settings, sealer)
    }

    /// With other kinds of provider besides the scripted ones.
    pub fn with_kinds(
        temp: TempStore,
        mail: FarEnd,
        hook: FarEnd,
        others: Vec<Arc<dyn Kind>>,
        settings: Settings,
        sealer: Sealer,
    ) -> Self {
        let registry = Registry::new([vec![mail.kind(), hook.kind()], others].concat()).unwrap();
        let clock: Arc<dyn Clock> = temp.clock.clone();
        let central = Central::new(temp.store.clone(), registry, sealer, clock, settings);
        let dispatcher = central.dispatcher();
        Self {
            temp,
            central,
            dispatcher,
            mail,
            hook,
        }
    }

    pub async fn list(&self, name: &str, addresses: &[&str]) {
        let recipients = addresses
            .iter()
            .map(|address| Recipient {
                name: None,
                address: address.to_string(),
                channel: None,
                enabled: true,
            })
            .collect();
        self.central
            .lists
            .put(
                TENANT,
                &List {
                    name: name.into(),
                    recipients,
                },
                &somebody(),
            )
            .await
            .unwrap();
    }

    pub async fn provider(&self, id: &str, kind: &str, change: impl FnOnce(&mut ProviderDraft)) -> Provider {
        let mut draft = ProviderDraft {
            id: Some(id.into()),
            kind: kind.into(),
            ..ProviderDraft::default()
        };
        change(&mut draft);
        match self
            .central
            .store
            .provider(TENANT, &ProviderId::new(id))
            .await
            .unwrap()
        {
            Some(current) => self
                .central
                .providers
                .replace(&current, draft, &somebody())
                .await
                .unwrap(),
            None => self
                .central
                .providers
                .create(TENANT, draft, &somebody())
                .await
                .unwrap(),
        }
    }

    pub async fn send(&self, notification: ANotification) -> NotificationId {
        let id = notification.0.id;
        let incoming = notification.0;
        let answers = self.central.ingest.submit(vec![incoming]).await.unwrap();
        assert_eq!(answers, [Submitted::Accepted { id }]);
        id
    }

    pub async fn sweep(&mut self) -> Tally {
        self.dispatcher.sweep().await.unwrap()
    }

    pub fn advance(&self, by: Duration) {
        self.temp.clock.advance(by);
    }

    pub async fn get(&self, id: NotificationId) -> Notification {
        self.central
            .store
            .get(TENANT, id)
            .await
            .unwrap()
            .expect("the notification is there")
    }

    pub async fn status(&self, id: NotificationId) -> Status {
        self.get(id).await.status
    }

    pub async fn attempts(&self, id: NotificationId) -> Vec<AuditRow> {
        self.central
            .store
            .attempts(TENANT, id)
            .await
            .unwrap()
            .expect("the notification is there")
    }

    pub async fn requeue(&self, id: NotificationId) {
        let acted = self
            .central
            .operator
            .requeue(TENANT, &[id], &somebody())
            .await
            .unwrap();
        assert_eq!(acted, [store::operator::Acted::Done]);
    }

    /// Every notification is in one place: waiting or ended.
    pub async fn assert_nothing_misplaced(&self) {
        assert_eq!(self.central.store.misplaced().await.unwrap(), 0);
    }
}
