//! What is written down about what happened. The audit log is append-only; names here are what it shows.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

macro_rules! names {
    ($(#[$doc:meta])* $enum:ident { $($(#[$vdoc:meta])* $name:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $enum { $($(#[$vdoc])* $name),* }

        impl $enum {
            pub const ALL: &[$enum] = &[$($enum::$name),*];

            pub fn as_str(self) -> &'static str {
                match self { $($enum::$name => stringify!($name)),* }
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $enum {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|v| v.as_str().eq_ignore_ascii_case(text)).ok_or_else(|| {
                    let known: Vec<_> = Self::ALL.iter().map(|v| v.as_str()).collect();
                    format!("{text:?} is not one of {}", known.join(", "))
                })
            }
        }
    };
}
pub(crate) use names;

names!(
    /// What was done.
    AuditKind {
        /// A notification was accepted.
        NotifySend,
        /// A delivery was attempted, or a notification reached its end.
        NotifyDeliver,
        /// An operator sent a parked notification round again.
        NotifyRequeue,
        /// An operator asked for a notification that has ended once more.
        NotifyResend,
        /// A provider told later about a message that it had taken.
        NotifyReceipt,
        /// An operator had a waiting notification tried at once.
        NotifyTry,
        /// A waiting notification went on to the next provider of its channel.
        NotifyMove,
        /// A site called an external system, or somebody acted on such a call.
        CachedCall,
        /// A site wrote to a database, or somebody acted on such a write.
        CachedWrite,
        /// A person acted on a message that is parked, or waits, at a site.
        SiteParked,
        SiteChanged,
        LaneHeld,
        LaneResumed,
        /// An operator had a provider tried at once.
        LaneTried,
        /// Somebody stopped a bulk action.
        JobStopped,
        ProviderChanged,
        /// What becomes of a channel's messages when a provider is in trouble was changed.
        ChannelChanged,
        /// Somebody made one real attempt through a provider.
        ProviderTested,
        ListChanged,
        TemplateChanged,
        EventTypeChanged,
        /// An event or its schedule was sent round again.
        EventReplayed,
        /// Somebody was put on, or taken off, the list of who must not be written to.
        SuppressionChanged,
        KeyChanged,
        TenantChanged,
        /// A user was made, or what they may do was changed.
        UserChanged,
        SignedIn,
        SignedOut,
        /// A wrong password for a name that exists.
        SignInRefused,
        Purged,
    }
);

names!(
    /// How it came out.
    AuditStatus {
        Submitted,
        Attempted,
        Pending,
        Delivered,
        Parked,
        /// Failed for good at once; nothing was kept to try again.
        Failed,
        Discarded,
        Done,
    }
);
