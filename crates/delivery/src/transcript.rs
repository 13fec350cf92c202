//! What was said in one attempt: what we sent and what came back, for people who want to see it.
//!
//! Leaves to others: keeping it. Nothing is written down unless whoever makes the attempt asks for it.
//! Always true: every part is scrubbed of the provider's secrets before it is kept, and the whole has a bound.

use crate::redact::Redactor;
use domain::lock::lock;
use std::{
    fmt,
    sync::{Arc, Mutex},
};

/// The most that is kept of one part, in bytes.
const MAX_PART_BYTES: usize = 8 << 10;
/// The most that is kept of an attempt, in bytes. A conversation with many recipients is cut at its end.
const MAX_TRANSCRIPT_BYTES: usize = 32 << 10;

/// The exchanges of one attempt, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    pub parts: Vec<Part>,
    /// There was more than is kept.
    pub cut: bool,
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

/// Given along with an attempt: writes down what is said, or nothing at all. Clones write to the same transcript.
#[derive(Clone, Default)]
pub struct Recorder(Option<Arc<Mutex<Transcript>>>);

impl Recorder {
    /// Writes nothing down and costs nothing.
    pub fn off() -> Self {
        Self(None)
    }

    pub fn on() -> Self {
        Self(Some(Arc::default()))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn sent(&self, redactor: &Redactor, text: impl FnOnce() -> String) {
        self.record(Side::Sent, redactor, text);
    }

    pub(crate) fn received(&self, redactor: &Redactor, text: impl FnOnce() -> String) {
        self.record(Side::Received, redactor, text);
    }

    fn record(&self, side: Side, redactor: &Redactor, text: impl FnOnce() -> String) {
        let Some(kept) = &self.0 else { return };
        let (text, cut) = redactor.clean(&text(), MAX_PART_BYTES);
        let mut transcript = lock(kept);
        transcript.cut |= cut;
        let used: usize = transcript.parts.iter().map(|part| part.text.len()).sum();
        if used + text.len() > MAX_TRANSCRIPT_BYTES {
            transcript.cut = true;
            return;
        }
        transcript.parts.push(Part { side, text });
    }

    /// What was written down so far; none where nobody asked for it.
    pub fn transcript(&self) -> Option<Transcript> {
        self.0.as_ref().map(|kept| lock(kept).clone())
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Recorder(on)"
        } else {
            "Recorder(off)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_scrubbed_and_has_a_bound() {
        let mut redactor = Redactor::default();
        redactor.hide("hunter2-hunter2");
        let recorder = Recorder::on();
        recorder.sent(&redactor, || "AUTH hunter2-hunter2".into());
        recorder.received(&redactor, || "x".repeat(MAX_PART_BYTES + 1));
        let first = recorder.transcript().unwrap();
        assert_eq!(first.parts[0].text, "AUTH •••");
        assert_eq!(
            (first.parts[1].side, first.parts[1].text.len()),
            (Side::Received, MAX_PART_BYTES)
        );
        assert!(first.cut);
        for _ in 0..10 {
            recorder.sent(&redactor, || "y".repeat(MAX_PART_BYTES));
        }
        let kept: usize = recorder
            .transcript()
            .unwrap()
            .parts
            .iter()
            .map(|p| p.text.len())
            .sum();
        assert!(kept <= MAX_TRANSCRIPT_BYTES);
    }

    #[test]
    fn nobody_who_did_not_ask_pays_for_it() {
        let recorder = Recorder::off();
        recorder.sent(&Redactor::default(), || unreachable!("nothing is written down"));
        assert_eq!(recorder.transcript(), None);
    }
}
