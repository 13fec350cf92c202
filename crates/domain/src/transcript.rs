//! What was said in one attempt: what we sent and what came back, for people who want to see it.

/// The exchanges of one attempt, in order. Scrubbed of secrets and bounded by whoever wrote it down.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    pub parts: Vec<Part>,
    /// There was more than is kept.
    pub cut: bool,
    /// What the message calls itself, the same over all attempts: the Message-ID of a mail.
    pub message_id: Option<String>,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub side: Side,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Sent,
    Received,
}

impl Side {
    pub fn as_str(self) -> &'static str {
        match self {
            Side::Sent => "sent",
            Side::Received => "received",
        }
    }
}

impl Transcript {
    /// How much there is to keep, in bytes.
    pub fn size(&self) -> usize {
        self.parts.iter().map(|part| part.text.len()).sum()
    }
}
