//! Templates: texts with `{{placeholders}}` that are filled from an event's values.
//!
//! In reading order: what a template says ([`content`]), what it is called ([`identity`]), what fills it ([`payload`]),
//! how it is filled ([`render`], [`date`]), and which of its variants is taken ([`choose()`]).
//!
//! Leaves to others: storing them (`store`), loading and sending (`central`), what a service's markup needs escaped
//! (`delivery`: each kind escapes the text it is given).
//! Always true: a value is put in once and never looked at again, so no value can name a placeholder; nothing here grows
//! beyond its limit, whatever template and payload say.

pub mod choose;
pub mod content;
pub mod date;
pub mod identity;
pub mod payload;
mod placeholder;
pub mod render;

pub use choose::{choose, choose_all};
pub use content::{ProviderTemplate, TemplateContent};
pub use date::{DateAs, DateStyle};
pub use identity::{TemplateIdentity, TemplateScope};
pub use payload::{Payload, PayloadError};
pub use render::{MissingPlaceholder, RenderError, RenderStyle, Rendered};

/// The longest values accepted.
pub mod limit {
    /// Of the body and of its HTML, in bytes.
    pub const BODY: usize = 256 * 1024;
    /// Parameters of a provider's template.
    pub const PARAMS: usize = 50;
    /// A parameter, an address placeholder, a zone: in characters.
    pub const SHORT: usize = 1_000;
    /// The longest name of a value, in bytes; a value with a longer one cannot be asked for.
    pub const VALUE_NAME: usize = 255;
    /// A format for dates, in characters.
    pub const DATE_FORMAT: usize = 64;
    /// How deep a payload may be nested.
    pub const DEPTH: usize = 32;
    /// How many values a payload may have.
    pub const VALUES: usize = 10_000;
    /// Warnings that one template is answered with.
    pub const WARNINGS: usize = 100;
}
