//! The JSON of the API, one file per resource. What is read is read leniently, field by field (see
//! [`crate::fields`]), into these types; what is answered is serialized from them. The OpenAPI document is made
//! of the same types.
//!
//! Always true: an answer has every field every time; what has no value is `null`.

pub mod audit;
pub mod captured;
pub mod channel;
pub mod communication;
pub mod content;
pub mod event;
pub mod event_type;
pub mod filter;
pub mod job;
pub mod key;
pub mod kpi;
pub mod lane;
pub mod list;
pub mod names;
pub mod notification;
pub mod page;
pub mod problem;
pub mod provider;
pub mod replay;
pub mod schedule;
pub mod site;
pub mod site_bulk;
pub mod site_messages;
pub mod site_waiting;
pub mod submit;
pub mod suppression;
pub mod template;
pub mod template_preview;
pub mod tenant;
pub mod transcript;
pub mod usage;
pub mod user;
pub mod waiting;
