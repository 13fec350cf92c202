//! What was said in attempts, as both databases keep it: one text, and which attempt of a notification it belongs to.

use crate::{Error, Result, query::AuditRow};
use domain::{
    AuditKind, AuditStatus, Transcript,
    transcript::{Part, Side},
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// An attempt as it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Made {
    /// None where it was cut off: nobody wrote down what was said.
    pub token: Option<i64>,
    /// What was said is kept.
    pub kept: bool,
}

/// Which of the attempts has this number, counted from 1.
pub(crate) fn numbered(made: &[Made], number: u32) -> Option<Made> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    made.get(place).copied()
}

/// Tells each attempt among the rows of one notification, oldest first, its number and whether it can be opened.
pub(crate) fn number(rows: &mut [AuditRow], made: &[Made]) {
    let mut count = 0;
    for row in rows {
        if (row.kind, row.status) == (AuditKind::NotifyDeliver, AuditStatus::Attempted) {
            count += 1;
            row.attempt = Some(count);
            row.has_transcript = numbered(made, count).is_some_and(|made| made.kept);
        }
    }
}

/// The columns' text. Names are short: there is one of it for every part.
#[derive(Serialize, Deserialize)]
struct StoredTranscript<'a> {
    #[serde(rename = "id", default, skip_serializing_if = "Option::is_none")]
    message_id: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    parts: Vec<StoredPart<'a>>,
}

#[derive(Serialize, Deserialize)]
enum StoredPart<'a> {
    #[serde(rename = "s")]
    Sent(Cow<'a, str>),
    #[serde(rename = "r")]
    Received(Cow<'a, str>),
}

pub(crate) fn written(transcript: &Transcript) -> String {
    let parts = transcript.parts.iter().map(|part| match part.side {
        Side::Sent => StoredPart::Sent(Cow::Borrowed(&part.text)),
        Side::Received => StoredPart::Received(Cow::Borrowed(&part.text)),
    });
    let said = StoredTranscript {
        message_id: transcript.message_id.as_deref().map(Cow::Borrowed),
        cut: transcript.cut,
        parts: parts.collect(),
    };
    serde_json::to_string(&said).unwrap_or_default()
}

pub(crate) fn read(text: &str) -> Result<Transcript> {
    let said: StoredTranscript<'_> =
        serde_json::from_str(text).map_err(|_| Error::corrupt("transcripts", "a text nobody wrote"))?;
    let part = |part| match part {
        StoredPart::Sent(text) => (Side::Sent, text),
        StoredPart::Received(text) => (Side::Received, text),
    };
    let parts = said.parts.into_iter().map(part);
    Ok(Transcript {
        parts: parts
            .map(|(side, text)| Part {
                side,
                text: text.into_owned(),
            })
            .collect(),
        cut: said.cut,
        message_id: said.message_id.map(Cow::into_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_back() {
        let said = |side, text: &str| Part {
            side,
            text: text.into(),
        };
        let one = Transcript {
            parts: vec![
                said(Side::Sent, "EHLO \"me\"\n"),
                said(Side::Received, "250 ö\\n"),
            ],
            cut: true,
            message_id: Some("x@example.com".into()),
        };
        assert_eq!(read(&written(&one)).unwrap(), one);
        assert_eq!(
            read(&written(&Transcript::default())).unwrap(),
            Transcript::default()
        );
        assert!(read("no").is_err());
    }
}
