//! The codes of failures: the same for all kinds of providers, so that one filter finds what one answer helps against. What a
//! far end says itself is kept beside them (`providerCode`).
//!
//! A row that was never sent has others, which say what was missing: `NO_PROVIDER`, `NO_LIST`, ….

/// The credentials are refused.
pub const AUTH_FAILED: &str = "AUTH_FAILED";
/// The credentials are known, and not allowed to do this.
pub const FORBIDDEN: &str = "FORBIDDEN";
/// Too many requests just now.
pub const RATE_LIMITED: &str = "RATE_LIMITED";
/// A limit over hours or days is used up.
pub const QUOTA: &str = "QUOTA";
/// The service wants money.
pub const BILLING: &str = "BILLING";
/// No answer in time.
pub const TIMEOUT: &str = "TIMEOUT";
/// The far end cannot be reached, or the connection broke.
pub const NETWORK: &str = "NETWORK";
/// The far end has trouble of its own.
pub const PROVIDER_ERROR: &str = "PROVIDER_ERROR";
/// A setting of the provider is wrong.
pub const INVALID_CONFIG: &str = "INVALID_CONFIG";
/// This message can never go out as it is.
pub const VALIDATION: &str = "VALIDATION";
/// This address cannot be served.
pub const RECIPIENT: &str = "RECIPIENT";
/// Such messages go out at certain hours only.
pub const OUTSIDE_HOURS: &str = "OUTSIDE_HOURS";
/// The service refuses the template.
pub const TEMPLATE: &str = "TEMPLATE";
/// It was not out by the time its sender set.
pub const EXPIRED: &str = "EXPIRED";
/// Nobody knows whether the far end took it.
pub const AMBIGUOUS: &str = "AMBIGUOUS";
/// Whether a failure says something about one message or recipient, and nothing about the far end, which answered.
pub fn is_of_one_message(code: &str) -> bool {
    [VALIDATION, RECIPIENT, TEMPLATE, OUTSIDE_HOURS, EXPIRED].contains(&code)
}

/// Nobody has a rule for this answer.
pub const UNKNOWN: &str = "UNKNOWN";
