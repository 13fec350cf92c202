//! Why somebody gives something up: optional, unless the configuration wants it; the audit log keeps it.

use crate::{
    fields::{Fields, NUL},
    state::Shared,
};
use domain::FieldError;

/// In characters.
pub const MAX_REASON: usize = 500;

/// What was said, without blanks around it; or what is wrong with it.
pub fn checked(state: &Shared, said: Option<&str>) -> Result<Option<String>, FieldError> {
    let reason = optional(said)?;
    if reason.is_none() && state.central.settings.discard_needs_reason {
        return Err(FieldError::new("reason", "is required here: say why"));
    }
    Ok(reason)
}

/// The same where nobody has to say anything.
pub fn optional(said: Option<&str>) -> Result<Option<String>, FieldError> {
    let said = said.map(str::trim).filter(|text| !text.is_empty());
    if said.is_some_and(|text| text.chars().count() > MAX_REASON) {
        let most = format!("must be at most {MAX_REASON} characters");
        return Err(FieldError::new("reason", most));
    }
    if said.is_some_and(|text| text.contains('\0')) {
        return Err(FieldError::new("reason", NUL));
    }
    Ok(said.map(str::to_owned))
}

/// The same from a request's body.
pub fn read(state: &Shared, fields: &mut Fields) -> Option<String> {
    let said = fields.text("reason");
    match checked(state, said.as_deref()) {
        Ok(reason) => reason,
        Err(bad) => {
            fields.problem(&bad.field, bad.problem);
            None
        }
    }
}
