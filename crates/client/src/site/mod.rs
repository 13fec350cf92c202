//! What a script at a site uses: the agent on this machine takes what it is given and keeps it until it has arrived.
//!
//! ```no_run
//! use client::site::{Notify, Site};
//!
//! # async fn example() -> Result<(), client::Error> {
//! let site = Site::local()?;
//! let id = Notify::to("ops").instance("tank-4").send(&site, "Tank 4 is full", "Level 98 %").await?;
//! println!("{}", site.status(id).await?.status);
//!
//! let sent = site.call("erp").post("/orders").json(&serde_json::json!({"item": 7})).send().await?;
//! let write = site.write("history", "insert into readings values ($1, $2)").param("tank-4").param(98.2).send().await?;
//! println!("{:?}, {:?}", sent.result, site.tracking(write.tracked_operation_id).await?.status);
//! # Ok(())
//! # }
//! ```
//!
//! Always true: when a send answers, the message is on this machine's disk or was delivered.

mod either;
mod notify;
mod pair;
mod read;
mod send;

pub use notify::Notify;
pub use pair::{OtherMachine, Pair};
pub use read::{
    Damage, Health, LoopHealth, NotificationStatus, Recovered, SiteEvent, Tracking, TriedNow, WaitingMessage,
    WaitingPage,
};
pub use send::{CachedCall, CachedWrite, Refusal, Sent};

use crate::{Client, ClientBuilder, Error, Result};
use std::sync::{Arc, atomic::AtomicBool};

/// Where a site's agent listens unless it was told otherwise.
pub const DEFAULT_URL: &str = "http://127.0.0.1:8090";

/// The agent of a site. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Site {
    pub(crate) client: Client,
    /// The other machine of the site, if it was named.
    other: Option<Client>,
    /// The other one took the last message.
    prefers_other: Arc<AtomicBool>,
}

impl Site {
    /// The agent at `WAYPOST_SITE_URL` with the token `WAYPOST_SITE_TOKEN`, or the one on this machine. Of a site with two
    /// machines both may be named, with a comma in between.
    pub fn local() -> Result<Self> {
        let urls = std::env::var("WAYPOST_SITE_URL").unwrap_or_else(|_| DEFAULT_URL.into());
        let token = std::env::var("WAYPOST_SITE_TOKEN").unwrap_or_default();
        match urls.split_once(',') {
            None => Self::new(&urls, token),
            Some((url, other)) => {
                let other = Self::new(other.trim(), token.clone())?;
                Ok(Self::new(url.trim(), token)?.or(other))
            }
        }
    }

    /// The other machine of the same site: what this one does not take is sent to that one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            other: Some(other.client),
            ..self
        }
    }

    /// The agent at `url`; on another machine it asks for its token.
    pub fn new(url: &str, token: impl Into<String>) -> Result<Self> {
        Self::builder(url).api_key(token).build().map(Self::from)
    }

    /// For those who need other limits; the key is the agent's token. Turn the result into a site with `into`.
    pub fn builder(url: &str) -> ClientBuilder {
        Client::builder(url)
    }

    pub fn url(&self) -> &str {
        self.client.url()
    }
}

impl From<Client> for Site {
    fn from(client: Client) -> Self {
        Self {
            client,
            other: None,
            prefers_other: Arc::default(),
        }
    }
}

/// It is the agent that did not answer, not central.
fn of_site<T>(answer: Result<T>) -> Result<T> {
    answer.map_err(|error| match error {
        Error::Unreachable { url, cause } => Error::SiteUnreachable { url, cause },
        Error::Unauthorized { detail } => Error::SiteUnauthorized { detail },
        Error::Server {
            status,
            code,
            detail,
            retry_after,
        } => Error::Site {
            status,
            code,
            detail,
            retry_after,
        },
        other => other,
    })
}
