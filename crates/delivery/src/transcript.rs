//! Writing down what is said in one attempt.
//!
//! Leaves to others: keeping it. Nothing is written down unless whoever makes the attempt asks for it.
//! Always true: every part is scrubbed of the provider's secrets before anybody sees it, and the whole has a bound. While the
//! attempt runs, parts are only put aside: what nobody wants to read in the end is never made readable.

use crate::redact::Redactor;
use domain::lock::lock;
use std::{
    fmt,
    sync::{Arc, Mutex},
};

pub use domain::transcript::{Part, Side, Transcript};

/// The most that is kept of one part, in bytes.
const MAX_PART_BYTES: usize = 8 << 10;
/// The most that is put aside of one part. More than is kept, because secrets are longer than what stands for them.
pub(crate) const MAX_RAW_BYTES: usize = 4 * MAX_PART_BYTES;
/// The most that is kept of an attempt, in bytes. A conversation with many recipients is cut at its end.
const MAX_TRANSCRIPT_BYTES: usize = 32 << 10;
/// The most parts that are put aside in an attempt.
const MAX_PARTS: usize = 256;

/// Given along with an attempt: writes down what is said, or nothing at all. Clones write to the same transcript.
#[derive(Clone, Default)]
pub struct Recorder(Option<Arc<Mutex<Notes>>>);

/// What was put aside.
#[derive(Default)]
struct Notes {
    parts: Vec<Note>,
    cut: bool,
    message_id: Option<String>,
}

struct Note {
    side: Side,
    redactor: Redactor,
    text: Box<dyn Fn() -> String + Send>,
}

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

    /// What the message calls itself.
    pub(crate) fn message_id(&self, id: impl FnOnce() -> String) {
        if let Some(kept) = &self.0 {
            lock(kept).message_id = Some(id());
        }
    }

    /// Text that goes out. Made only if somebody wants to read it.
    pub fn sent(&self, redactor: &Redactor, text: impl Fn() -> String + Send + 'static) {
        self.put_aside(Side::Sent, redactor, text);
    }

    /// Text that came back.
    pub fn received(&self, redactor: &Redactor, text: impl Fn() -> String + Send + 'static) {
        self.put_aside(Side::Received, redactor, text);
    }

    fn put_aside(&self, side: Side, redactor: &Redactor, text: impl Fn() -> String + Send + 'static) {
        let Some(kept) = &self.0 else { return };
        let mut notes = lock(kept);
        if notes.parts.len() >= MAX_PARTS {
            notes.cut = true;
            return;
        }
        notes.parts.push(Note {
            side,
            redactor: redactor.clone(),
            text: Box::new(text),
        });
    }

    /// What was written down so far; none where nobody asked for it.
    pub fn transcript(&self) -> Option<Transcript> {
        let notes = lock(self.0.as_ref()?);
        let mut transcript = Transcript {
            parts: vec![],
            cut: notes.cut,
            message_id: notes.message_id.clone(),
        };
        let mut room = MAX_TRANSCRIPT_BYTES;
        for note in &notes.parts {
            let said = (note.text)();
            let (text, cut) = note.redactor.clean(&said, MAX_PART_BYTES);
            transcript.cut |= cut;
            match room.checked_sub(text.len()) {
                Some(left) => room = left,
                None => {
                    transcript.cut = true;
                    break;
                }
            }
            transcript.parts.push(Part {
                side: note.side,
                text: text.into_owned(),
            });
        }
        Some(transcript)
    }

    /// Whether anything was said. Nothing is made readable for this.
    pub fn has_notes(&self) -> bool {
        self.0.as_ref().is_some_and(|kept| !lock(kept).parts.is_empty())
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
        assert!(!recorder.has_notes());
    }

    #[test]
    fn what_nobody_reads_is_never_made_readable() {
        let recorder = Recorder::on();
        recorder.sent(&Redactor::default(), || unreachable!("nobody reads it"));
        assert!(recorder.has_notes());
    }

    #[test]
    fn a_conversation_without_end_is_cut() {
        let recorder = Recorder::on();
        for _ in 0..=MAX_PARTS {
            recorder.received(&Redactor::default(), || "250 ok".into());
        }
        let kept = recorder.transcript().unwrap();
        assert_eq!((kept.parts.len(), kept.cut), (MAX_PARTS, true));
    }
}
