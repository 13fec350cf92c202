//! Which of a service's own codes say that a recipient does not want to be written to any more.

/// One such code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptOut {
    pub code: &'static str,
    pub of: OptOutOf,
}

/// What the recipient does not want any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptOutOf {
    /// Anything from us over this channel.
    Everything,
    /// What is about the same, where the message says what it is about; else anything.
    SuchMessages,
    /// What is about the same, and nothing where the message does not say what it is about: other messages reach them.
    Topic,
}

impl OptOut {
    pub const fn everything(code: &'static str) -> Self {
        Self {
            code,
            of: OptOutOf::Everything,
        }
    }

    pub const fn such_messages(code: &'static str) -> Self {
        Self {
            code,
            of: OptOutOf::SuchMessages,
        }
    }

    pub const fn topic(code: &'static str) -> Self {
        Self {
            code,
            of: OptOutOf::Topic,
        }
    }

    pub fn find(known: &[Self], code: Option<&str>) -> Option<Self> {
        let code = code?;
        known.iter().copied().find(|one| one.code == code)
    }
}
