//! Every kind of provider there is, in one visible list.

use crate::{
    apprise::Apprise,
    capture::{CaptureKind, Captured},
    discord::Discord,
    homeassistant::HomeAssistant,
    interakt::Interakt,
    kind::Kind,
    kit::HttpKind,
    meta::Meta,
    msg91::Msg91,
    ntfy::Ntfy,
    outside::Outside,
    pushbullet::Pushbullet,
    pushover::Pushover,
    slack::Slack,
    smtp::SmtpKind,
    teams::Teams,
    telegram::Telegram,
    twilio::Twilio,
    webhook::Webhook,
};
use std::sync::Arc;

/// The kinds this program can deliver through, by name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    kinds: Vec<Arc<dyn Kind>>,
}

impl Registry {
    /// All kinds there are. What capture providers are given can be looked at through `captured`.
    pub fn standard(outside: Arc<Outside>, captured: Captured) -> Self {
        Self {
            kinds: vec![
                Arc::new(SmtpKind::new(outside.clone())),
                HttpKind::<Webhook>::kind(&outside),
                HttpKind::<Ntfy>::kind(&outside),
                HttpKind::<Slack>::kind(&outside),
                HttpKind::<Discord>::kind(&outside),
                HttpKind::<Telegram>::kind(&outside),
                HttpKind::<Pushover>::kind(&outside),
                HttpKind::<Pushbullet>::kind(&outside),
                HttpKind::<Teams>::kind(&outside),
                HttpKind::<HomeAssistant>::kind(&outside),
                HttpKind::<Apprise>::kind(&outside),
                HttpKind::<Twilio>::kind(&outside),
                HttpKind::<Msg91>::kind(&outside),
                HttpKind::<Meta>::kind(&outside),
                HttpKind::<Interakt>::kind(&outside),
                Arc::new(CaptureKind::new(captured)),
            ],
        }
    }

    /// A registry of these kinds. Two of the same name are a programming error and refused.
    pub fn new(kinds: Vec<Arc<dyn Kind>>) -> Result<Self, String> {
        for (i, kind) in kinds.iter().enumerate() {
            let name = kind.info().kind;
            if kinds[..i].iter().any(|k| k.info().kind == name) {
                return Err(format!("two provider kinds are called {name:?}"));
            }
        }
        Ok(Self { kinds })
    }

    pub fn get(&self, kind: &str) -> Option<&Arc<dyn Kind>> {
        self.kinds.iter().find(|k| k.info().kind == kind)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Kind>> {
        self.kinds.iter()
    }
}
