//! Ready-made notifications; a test names only what it is about.

use domain::{Actor, Channel, Content, NotificationId, ProviderId, Submission, Target, TenantId, Timestamp};

/// A submission under construction: to the list `ops` by e-mail unless said otherwise.
#[derive(Debug, Clone)]
pub struct ANotification(pub Submission);

pub fn a_notification() -> ANotification {
    let content = Content {
        channel: Some(Channel::Email),
        target: Target::List("ops".into()),
        subject: "Tank 4 is full".into(),
        body: "Level 98 %".into(),
        ..Content::default()
    };
    ANotification(Submission::new(
        TenantId::DEFAULT,
        NotificationId::mint(),
        Actor::new("key:test"),
        content,
    ))
}

impl ANotification {
    pub fn to_list(mut self, name: &str) -> Self {
        self.0.content.target = Target::List(name.into());
        self
    }

    pub fn to(mut self, addresses: &[&str]) -> Self {
        self.0.content.target = Target::Recipients(addresses.iter().map(|a| a.to_string()).collect());
        self
    }

    pub fn by(mut self, channel: Channel) -> Self {
        self.0.content.channel = Some(channel);
        if !channel.needs_recipients() {
            self.0.content.target = Target::Provider;
        }
        self
    }

    pub fn through(mut self, provider: &str) -> Self {
        self.0.content.provider = Some(ProviderId::new(provider));
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
        self.0.content.subject = subject.into();
        self
    }

    pub fn send_at(mut self, at: Timestamp) -> Self {
        self.0.content.send_at = Some(at);
        self
    }

    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.0.content.expires_at = Some(at);
        self
    }

    pub fn superseding(mut self, key: &str) -> Self {
        self.0.content.supersedes_key = Some(key.into());
        self
    }
}
