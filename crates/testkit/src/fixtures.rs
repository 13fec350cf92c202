//! Ready-made notifications; a test names only what it is about.

use domain::{
    Actor, Channel, NotificationId, ProviderId, Submission, Target, TenantId, Timestamp,
    submission::{Extra, Provenance},
};

/// A submission under construction: to the list `ops` by e-mail unless said otherwise.
#[derive(Debug, Clone)]
pub struct ANotification(pub Submission);

pub fn a_notification() -> ANotification {
    ANotification(Submission {
        tenant: TenantId::DEFAULT,
        id: NotificationId::mint(),
        idempotency_key: None,
        channel: Channel::Email,
        provider: None,
        target: Target::List("ops".into()),
        subject: "Tank 4 is full".into(),
        body: "Level 98 %".into(),
        type_data: None,
        provenance: Provenance::default(),
        entity_type: None,
        entity_id: None,
        submitted_by: Actor::new("key:test"),
        site_enqueued_at: None,
        send_at: None,
        expires_at: None,
        supersedes_key: None,
        extra: Extra::default(),
    })
}

impl ANotification {
    pub fn to_list(mut self, name: &str) -> Self {
        self.0.target = Target::List(name.into());
        self
    }

    pub fn to(mut self, addresses: &[&str]) -> Self {
        self.0.target = Target::Recipients(addresses.iter().map(|a| a.to_string()).collect());
        self
    }

    pub fn by(mut self, channel: Channel) -> Self {
        self.0.channel = channel;
        if !channel.needs_recipients() {
            self.0.target = Target::Provider;
        }
        self
    }

    pub fn through(mut self, provider: &str) -> Self {
        self.0.provider = Some(ProviderId::new(provider));
        self
    }

    pub fn tenant(mut self, tenant: TenantId) -> Self {
        self.0.tenant = tenant;
        self
    }

    pub fn site(mut self, site: &str) -> Self {
        self.0.provenance.site = Some(site.into());
        self
    }

    pub fn subject(mut self, subject: &str) -> Self {
        self.0.subject = subject.into();
        self
    }

    pub fn send_at(mut self, at: Timestamp) -> Self {
        self.0.send_at = Some(at);
        self
    }

    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.0.expires_at = Some(at);
        self
    }

    pub fn superseding(mut self, key: &str) -> Self {
        self.0.supersedes_key = Some(key.into());
        self
    }
}
