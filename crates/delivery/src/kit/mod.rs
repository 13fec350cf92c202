//! What a kind is made of whose far end is an HTTP service: settings, one request, a table of answers. The rest is here.
//!
//! Leaves to others: what services want and say (one folder each), when to try again (`domain::retry`).
//! Always true: addresses are vetted, answers and time have bounds, secrets are scrubbed from whatever comes out, and each
//! recipient has a result of its own.

mod callback;
mod data;
mod endpoint;
mod html;
mod markup;
mod phone;
mod recipients;
mod rich;
mod sending;
mod service;
mod template;
mod text;

pub(crate) use callback::{DeliveryReport, is_same_secret, not_json, with_reference};
pub(crate) use data::{ContentProblems, MessageData, content_problems};
pub(crate) use endpoint::{Endpoint, below};
pub(crate) use markup::{Markup, fit_plain};
pub(crate) use phone::Phone;
pub(crate) use recipients::{PerRecipient, conclude};
pub(crate) use rich::rich;
pub(crate) use sending::Sending;
pub(crate) use service::{HttpKind, HttpService, described_timeout};
pub(crate) use template::{Header, Params, TemplateData, Templates, shown};
pub(crate) use text::{Unit, fit, subject_and_body};
