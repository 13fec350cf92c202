//! Questions that wait for their answers on one stream. Both ends keep one.
//!
//! Always true: after [`Calls::close`] nobody waits and nobody starts to; a site's numbers are odd and central's even,
//! so that a frame too new to be understood can still be told to be a question.

use domain::lock::lock;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};
use tokio::sync::oneshot;

#[derive(Debug)]
pub(crate) struct Calls<A> {
    open: Mutex<Open<A>>,
}

#[derive(Debug)]
struct Open<A> {
    last: u64,
    /// None once the stream is over.
    waiting: Option<HashMap<u64, oneshot::Sender<A>>>,
}

/// One question. Dropping it forgets the question; its answer is then ignored.
#[derive(Debug)]
pub(crate) struct Call<'a, A> {
    calls: &'a Calls<A>,
    pub number: u64,
    answer: oneshot::Receiver<A>,
}

/// Whether a frame of this number that came from central is a question.
pub(crate) fn central_asked(number: u64) -> bool {
    number != 0 && number.is_multiple_of(2)
}

/// Whether a frame of this number that came from a site is a question.
pub(crate) fn site_asked(number: u64) -> bool {
    !number.is_multiple_of(2)
}

impl<A> Calls<A> {
    pub fn of_site() -> Self {
        Self::after(u64::MAX)
    }

    pub fn of_central() -> Self {
        Self::after(0)
    }

    fn after(last: u64) -> Self {
        Self {
            open: Mutex::new(Open {
                last,
                waiting: Some(HashMap::new()),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open<A>> {
        lock(&self.open)
    }

    /// A question with a number of its own; none when the stream is over.
    pub fn start(&self) -> Option<Call<'_, A>> {
        let mut open = self.lock();
        open.last = open.last.wrapping_add(2);
        let number = open.last;
        let (tell, answer) = oneshot::channel();
        open.waiting.as_mut()?.insert(number, tell);
        Some(Call {
            calls: self,
            number,
            answer,
        })
    }

    /// Hands an answer to whoever asked, if they still wait.
    pub fn answer(&self, number: u64, answer: A) {
        let asker = self.lock().waiting.as_mut().and_then(|w| w.remove(&number));
        if let Some(asker) = asker {
            asker.send(answer).ok();
        }
    }

    /// The stream is over: whoever waits is told so.
    pub fn close(&self) {
        self.lock().waiting = None;
    }
}

impl<A> Call<'_, A> {
    /// None when the stream ended first.
    pub async fn wait(mut self) -> Option<A> {
        (&mut self.answer).await.ok()
    }
}

impl<A> Drop for Call<'_, A> {
    fn drop(&mut self) {
        if let Some(waiting) = &mut self.calls.lock().waiting {
            waiting.remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_answer_reaches_the_one_who_asked() {
        let calls = Calls::of_site();
        let (one, two) = (calls.start().unwrap(), calls.start().unwrap());
        assert!(site_asked(one.number) && site_asked(two.number) && one.number != two.number);
        calls.answer(two.number, "two");
        calls.answer(one.number, "one");
        assert_eq!((one.wait().await, two.wait().await), (Some("one"), Some("two")));
    }

    #[tokio::test]
    async fn the_end_of_the_stream_is_told_to_everybody_and_nobody_starts_after_it() {
        let calls = Calls::<()>::of_central();
        let call = calls.start().unwrap();
        assert!(central_asked(call.number));
        calls.close();
        assert_eq!(call.wait().await, None);
        assert!(calls.start().is_none());
    }

    #[test]
    fn who_gave_up_is_forgotten() {
        let calls = Calls::<()>::of_site();
        let call = calls.start().unwrap();
        drop(call);
        assert_eq!(calls.lock().waiting.as_ref().unwrap().len(), 0);
    }
}
