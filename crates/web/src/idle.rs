//! How long a connection may be there without a request. HTTP/2 has no such limit of its own: whoever answers its pings could
//! stay for ever.
//!
//! Always true: a request counts from its head to the end of its answer, so that a live stream, or an answer that takes its
//! time, is never cut; what else is sent over the connection is no request.

use axum::http::Response;
use domain::lock::lock;
use http_body::{Body, Frame, SizeHint};
use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};
use tower_service::Service;

/// Requests of one connection.
#[derive(Debug)]
struct Requests {
    under_way: usize,
    none_since: Instant,
}

#[derive(Debug, Clone)]
pub(crate) struct Activity(Arc<Mutex<Requests>>);

impl Activity {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Requests {
            under_way: 0,
            none_since: Instant::now(),
        })))
    }

    fn begin(&self) -> UnderWay {
        lock(&self.0).under_way += 1;
        UnderWay(self.clone())
    }

    /// Since when there is no request; none while there is one.
    fn idle_since(&self) -> Option<Instant> {
        let requests = lock(&self.0);
        (requests.under_way == 0).then_some(requests.none_since)
    }
}

/// A request, until its answer has gone out or was given up.
#[derive(Debug)]
struct UnderWay(Activity);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut requests = lock(&self.0.0);
        requests.under_way -= 1;
        requests.none_since = Instant::now();
    }
}

/// Looks at the clock for a connection that is read from.
#[derive(Debug)]
pub(crate) struct IdleLimit {
    activity: Activity,
    longest: Duration,
    look_again: Pin<Box<Sleep>>,
}

impl IdleLimit {
    pub fn new(activity: Activity, longest: Duration) -> Self {
        Self {
            activity,
            longest,
            look_again: Box::pin(sleep_until(Instant::now() + longest)),
        }
    }

    /// Ready when the connection has been idle for too long; otherwise the task is woken when it may be.
    pub fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.look_again.as_mut().poll(cx).is_ready() {
            let end = self.activity.idle_since().unwrap_or_else(Instant::now) + self.longest;
            if end <= Instant::now() {
                return Poll::Ready(());
            }
            self.look_again.as_mut().reset(end);
        }
        Poll::Pending
    }
}

/// A service whose requests are counted.
#[derive(Debug, Clone)]
pub(crate) struct Counted<S> {
    service: S,
    activity: Activity,
}

impl<S> Counted<S> {
    pub fn new(service: S, activity: Activity) -> Self {
        Self { service, activity }
    }
}

impl<S, R, B> Service<R> for Counted<S>
where
    S: Service<R, Response = Response<B>>,
    S::Future: Send + 'static,
{
    type Response = Response<CountedBody<B>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let under_way = self.activity.begin();
        let answer = self.service.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| CountedBody {
                body: Box::pin(body),
                _under_way: under_way,
            }))
        })
    }
}

/// An answer that is going out.
#[derive(Debug)]
pub(crate) struct CountedBody<B> {
    body: Pin<Box<B>>,
    _under_way: UnderWay,
}

impl<B: Body> Body for CountedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.body.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_when_it_has_had_no_request_for_that_long() {
        let start = Instant::now();
        let minute = Duration::from_secs(60);
        let activity = Activity::new();
        let mut limit = IdleLimit::new(activity.clone(), minute);
        let stream = activity.begin();
        let over = tokio::spawn(async move { poll_fn(|cx| limit.poll_over(cx)).await });
        tokio::time::sleep(10 * minute).await;
        assert!(!over.is_finished(), "a stream may last");
        drop(stream);
        over.await.unwrap();
        let took = start.elapsed();
        assert!(took >= 11 * minute && took <= 12 * minute, "{took:?}");
    }
}
