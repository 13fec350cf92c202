//! The body of a request, and whether it has left.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

/// Whether a request's body has been handed to a connection. From then on the far end may have all of it. Nobody asks
/// for an empty one, so a request without a body always may.
#[derive(Clone)]
pub(super) struct Sent(Arc<AtomicBool>);

impl Sent {
    pub fn of(body: Bytes) -> (Self, Watched) {
        let sent = Self(Arc::new(AtomicBool::new(body.is_empty())));
        let watched = Watched {
            rest: Some(body).filter(|body| !body.is_empty()),
            sent: sent.clone(),
        };
        (sent, watched)
    }

    pub fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A body that tells when it is asked for.
pub(super) struct Watched {
    rest: Option<Bytes>,
    sent: Sent,
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.sent.0.store(true, Ordering::Release);
        Poll::Ready(self.rest.take().map(|body| Ok(Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.as_ref().map_or(0, |body| body.len() as u64))
    }
}
