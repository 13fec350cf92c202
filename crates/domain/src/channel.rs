//! The channels a notification can go out on: the `type` of the public API.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

macro_rules! channels {
    ($($name:ident),* $(,)?) => {
        /// How a notification reaches people. The name is the same in the API, in SQL and on the console.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Channel { $($name),* }

        impl Channel {
            pub const ALL: &[Channel] = &[$(Channel::$name),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Channel::$name => stringify!($name)),* }
            }
        }
    };
}

channels!(
    Email,
    Webhook,
    WhatsApp,
    Sms,
    Teams,
    HomeAssistant,
    Discord,
    Slack,
    Telegram,
    Pushbullet,
    Pushover,
    Ntfy,
    Apprise,
    Capture,
);

impl Channel {
    /// Whether a message needs somebody to go to.
    pub fn needs_recipients(self) -> bool {
        matches!(self, Channel::Email | Channel::WhatsApp | Channel::Sms)
    }

    /// Whether a message may name somebody to go to. Where it may not, the provider's settings alone say where it goes.
    pub fn takes_recipients(self) -> bool {
        use Channel::{Apprise, Discord, HomeAssistant, Slack, Teams, Webhook};
        !matches!(self, Webhook | Teams | HomeAssistant | Discord | Slack | Apprise)
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown type {0:?}; known are {known}", known = known())]
pub struct UnknownChannel(pub String);

fn known() -> String {
    Channel::ALL
        .iter()
        .map(|c| c.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

impl FromStr for Channel {
    type Err = UnknownChannel;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Channel::ALL
            .iter()
            .copied()
            .find(|c| c.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownChannel(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_is_found_by_its_own_name_in_any_case() {
        for c in Channel::ALL {
            assert_eq!(c.as_str().parse::<Channel>().unwrap(), *c);
            assert_eq!(c.as_str().to_lowercase().parse::<Channel>().unwrap(), *c);
        }
        assert!(
            "Pigeon"
                .parse::<Channel>()
                .unwrap_err()
                .to_string()
                .contains("Email, Webhook")
        );
    }
}
