//! Traces: which one something belongs to, and what is told of a step in it.
//!
//! Leaves to others: sending spans to a collector (`waypost`). Always true: with nobody to take spans there are none,
//! and no context either, so nothing is stored or sent on for a trace that nobody keeps.

use rand::random;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr, sync::Arc, time::Instant};

/// A place in a trace, as W3C's `traceparent` writes it: the trace, and the span that others may be children of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace: [u8; 16],
    span: [u8; 8],
    /// Whoever began the trace wants it kept.
    sampled: bool,
}

/// Not a `traceparent` that can be gone on from; the trace starts anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a traceparent")]
pub struct NoTraceContext;

impl TraceContext {
    pub fn trace_id(&self) -> String {
        hex(&self.trace)
    }

    pub fn span_id(&self) -> String {
        hex(&self.span)
    }

    fn root() -> Self {
        Self {
            trace: (random::<u128>() | 1).to_be_bytes(),
            span: Self::new_span(),
            sampled: true,
        }
    }

    fn child(self) -> Self {
        Self {
            span: Self::new_span(),
            ..self
        }
    }

    /// All zeros would be none.
    fn new_span() -> [u8; 8] {
        (random::<u64>() | 1).to_be_bytes()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lower-case hex only, as the standard wants it.
fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
    if text.len() != 2 * N || !text.bytes().all(digit) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.sampled);
        write!(f, "00-{}-{}-{flags:02x}", self.trace_id(), self.span_id())
    }
}

impl FromStr for TraceContext {
    type Err = NoTraceContext;

    fn from_str(text: &str) -> Result<Self, NoTraceContext> {
        let read = || {
            let mut parts = text.split('-');
            let version = unhex::<1>(parts.next()?)?;
            let (trace, span) = (unhex(parts.next()?)?, unhex(parts.next()?)?);
            let [flags] = unhex::<1>(parts.next()?)?;
            // Later versions may say more; the first says no more than this.
            let ends = parts.next().is_none() || version != [0];
            let real = version != [0xff] && trace != [0; 16] && span != [0; 8];
            (ends && real).then_some(Self {
                trace,
                span,
                sampled: flags & 1 == 1,
            })
        };
        read().ok_or(NoTraceContext)
    }
}

impl Serialize for TraceContext {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// For a context that is kept with something more important: what cannot be read is as good as none.
pub fn readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TraceContext>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.and_then(|text| text.parse().ok()))
}

/// One step of a trace, over.
#[derive(Debug, Clone)]
pub struct Span {
    pub name: &'static str,
    pub kind: SpanKind,
    pub context: TraceContext,
    pub parent: Option<TraceContext>,
    pub start: Instant,
    pub end: Instant,
    pub attributes: Vec<(&'static str, String)>,
    /// Why it failed, as a code.
    pub failed: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Internal,
    /// Asked by somebody outside.
    Server,
    /// Asks somebody outside.
    Client,
}

/// Takes spans; never waits.
pub trait SpanSink: fmt::Debug + Send + Sync {
    fn take(&self, span: Span);
}

/// Where spans go, if anywhere.
#[derive(Debug, Clone, Default)]
pub struct Tracer(Option<Arc<dyn SpanSink>>);

impl Tracer {
    pub fn to(sink: Arc<dyn SpanSink>) -> Self {
        Self(Some(sink))
    }

    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The caller's place in a trace, if traces are kept at all. What cannot be read is as good as none.
    pub fn read(&self, traceparent: Option<&str>) -> Option<TraceContext> {
        self.0.as_ref()?;
        traceparent?.parse().ok()
    }

    /// A new span's place: below `parent`, or at the start of a trace of its own. None: it is not to be told.
    pub fn below(&self, parent: Option<TraceContext>) -> Option<TraceContext> {
        self.0.as_ref()?;
        match parent {
            None => Some(TraceContext::root()),
            Some(parent) => parent.sampled.then(|| parent.child()),
        }
    }

    /// The same, where nothing begins by itself.
    pub fn child(&self, parent: Option<TraceContext>) -> Option<TraceContext> {
        self.below(Some(parent?))
    }

    pub fn tell(&self, span: Span) {
        if let Some(sink) = &self.0 {
            sink.take(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nobody;

    impl SpanSink for Nobody {
        fn take(&self, _: Span) {}
    }

    const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_is_read_and_written_as_the_standard_has_it() {
        let caller: TraceContext = CALLER.parse().unwrap();
        assert_eq!(caller.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(caller.span_id(), "00f067aa0ba902b7");
        assert_eq!(caller.to_string(), CALLER);
        let later = format!("{}-more", CALLER.replacen("00", "cc", 1));
        assert_eq!(later.parse(), Ok(caller));
        for bad in [
            "",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-é",
        ] {
            assert_eq!(bad.parse::<TraceContext>(), Err(NoTraceContext), "{bad}");
        }
    }

    #[test]
    fn a_child_keeps_the_trace_and_has_a_span_of_its_own() {
        let tracer = Tracer::to(Arc::new(Nobody));
        let caller = tracer.read(Some(CALLER));
        let child = tracer.below(caller).unwrap();
        assert_eq!(child.trace_id(), caller.unwrap().trace_id());
        assert_ne!(child.span_id(), caller.unwrap().span_id());
        assert!(tracer.below(None).is_some(), "who has no trace begins one");
        assert_eq!(tracer.child(None), None);
    }

    #[test]
    fn nothing_is_told_of_a_trace_that_its_beginner_does_not_keep_nor_where_nobody_takes_spans() {
        let tracer = Tracer::to(Arc::new(Nobody));
        let unsampled = tracer.read(Some(&CALLER.replace("-01", "-00")));
        assert!(unsampled.is_some());
        assert_eq!(tracer.below(unsampled), None);
        let off = Tracer::default();
        assert_eq!((off.read(Some(CALLER)), off.below(None)), (None, None));
    }
}
