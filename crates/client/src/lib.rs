//! What a Rust program adds to send notifications through Waypost, and what the command line is built on.
//!
//! ```no_run
//! use client::{Client, Notification};
//!
//! # async fn example() -> Result<(), client::Error> {
//! let waypost = Client::new("http://127.0.0.1:8080", "wp_…")?;
//! let notification = Notification::to_list("ops")
//!     .subject("Pump 4 stopped")
//!     .body("Pressure fell below 2 bar at 14:02.");
//! let accepted = waypost.submit(&notification).await?;
//! println!("{} is {:?}", accepted.notification_id, waypost.status(accepted.notification_id).await?.status);
//! # Ok(())
//! # }
//! ```
//!
//! Leaves to others: delivering (`central`), buffering while central is away (a site agent).
//! Always true: when [`Client::submit`] answers, the notification is on central's disk; however often it had to
//! ask, it asked under one id, so there is one notification.

mod act;
mod again;
mod build;
mod channels;
mod details;
mod error;
pub mod events;
mod filter;
mod health;
mod http;
mod keys;
mod lists;
mod notification;
mod providers;
mod read;
mod row;
pub mod site;
pub mod site_calls;
pub mod sites;
mod stream;
mod submit;
mod suppressions;
mod templates;
mod usage;

pub use act::{Acted, Job, Matching};
pub use again::Again;
pub use build::ClientBuilder;
pub use channels::ChannelOrder;
pub use error::{Error, Result};
pub use filter::{AuditFilter, Filter};
pub use health::{Check, LoopReport, LoopWork, Readiness};
pub use http::Client;
pub use keys::{ApiKey, NewTenant, Tenant};
pub use lists::List;
pub use notification::Notification;
pub use providers::{
    CapturedMessage, Hold, Lane, Provider, ProviderCallback, ProviderDraft, ProviderKind, Setting,
    TestReport, TestedRecipient, TranscriptPart, When,
};
pub use read::Page;
pub use row::{AttemptTranscript, AuditRow, NotificationRow, SiteKpis, StatusReport, Waiting};
pub use site_calls::{CallFilter, SiteCall};
pub use sites::{
    NewSite, ParkedCount, ParkedMessage, ParkedPage, SiteConflict, SiteDamage, SitePair, SiteReport, SiteRow,
};
pub use stream::Event;
pub use submit::{Accepted, BatchAnswer};
pub use suppressions::Suppression;
pub use templates::{
    ProviderTemplate, Template, TemplateDraft, TemplatePreview, TemplateRow, TestedTemplate,
};
pub use usage::Removable;

pub use domain::{
    Channel, FieldError, NotificationId, Recipient, Status, TextFilter, TextFilters, Timestamp,
    TrackedOperationId, Usage,
    kpi::Kpis,
    site::{ParkedAction, ParkedFilter},
};
