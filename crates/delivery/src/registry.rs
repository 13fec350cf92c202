//! Every kind of provider there is, in one visible list.

use crate::{
    capture::{CaptureKind, Captured},
    kind::Kind,
    kit::HttpKind,
    outside::Outside,
    smtp::SmtpKind,
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
                HttpKind::<crate::webhook::Webhook>::kind(&outside),
                HttpKind::<crate::ntfy::Ntfy>::kind(&outside),
                HttpKind::<crate::slack::Slack>::kind(&outside),
                HttpKind::<crate::discord::Discord>::kind(&outside),
                HttpKind::<crate::telegram::Telegram>::kind(&outside),
                HttpKind::<crate::pushover::Pushover>::kind(&outside),
                HttpKind::<crate::pushbullet::Pushbullet>::kind(&outside),
                HttpKind::<crate::teams::Teams>::kind(&outside),
                HttpKind::<crate::homeassistant::HomeAssistant>::kind(&outside),
                HttpKind::<crate::apprise::Apprise>::kind(&outside),
                HttpKind::<crate::twilio::Twilio>::kind(&outside),
                HttpKind::<crate::msg91::Msg91>::kind(&outside),
                HttpKind::<crate::meta::Meta>::kind(&outside),
                HttpKind::<crate::interakt::Interakt>::kind(&outside),
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
