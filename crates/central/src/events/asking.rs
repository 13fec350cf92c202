//! Lookups of one source that are under way.
//!
//! Leaves to others: when a source that does not answer is asked again ([`super::hold`]).
//! Always true: a loop waits until its batch's time is up; what it asked goes on, and the answer is there when it comes back. An
//! answer is given to the event that asked and to no other, whose commit it may not have seen, and to a schedule only while no event of its
//! entity was published since it asked. No more is asked at once than the source has
//! connections; what is waited for in vain keeps nobody else.

mod place;
mod question;

pub(super) use question::{Asker, Question};

use super::{
    hold::Hold,
    lookup::{LookedUp, Waits},
};
use domain::{Timestamp, lock::lock, retry};
use place::Place;
use std::{
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, timeout_at},
};

/// So many answers wait for those who asked; while there are more, no loop asks.
const MOST_KEPT: usize = 128;
/// An answer that nobody came back for is forgotten after so long.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Who has asked comes back for the answer within this, long before it is forgotten.
const COMES_BACK_WITHIN: Duration = Duration::from_secs(5);
/// So long a person waits, also for a place.
const PERSON_WAITS: Duration = Duration::from_secs(15);

pub(super) struct Asking {
    source: String,
    places: usize,
    state: Mutex<State>,
    /// Something was answered, so there may be a place.
    freed: Notify,
}

#[derive(Default)]
struct State {
    all: Vec<UnderWay>,
    last_id: u64,
    hold: Hold,
    /// How long the last lookup took.
    took: Duration,
    /// When the last of those that found no place may come back.
    turn: Option<Instant>,
}

/// A lookup, and its answer until it is fetched.
struct UnderWay {
    id: u64,
    /// None for a person's, who never comes back for it, and for one whose answer is out of date.
    question: Option<Question>,
    answer: watch::Receiver<Option<LookedUp>>,
    asked_at: Instant,
    answered_at: Option<Instant>,
    in_vain: bool,
}

/// What to do about a question.
enum Next {
    /// It was asked before.
    Wait(u64, watch::Receiver<Option<LookedUp>>),
    Ask(Place, watch::Receiver<Option<LookedUp>>),
    NoPlace,
    Known(LookedUp),
}

impl std::fmt::Debug for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Asking({}, {} known)",
            self.source,
            lock(&self.state).all.len()
        )
    }
}

impl Asking {
    pub fn new(source: &str, places: usize) -> Self {
        Self {
            source: source.to_owned(),
            places: places.max(1),
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// The answer, or that there is none yet. `ask` is called where nobody has asked that; its error is that nobody was reached.
    pub async fn answer<F>(
        self: &Arc<Self>,
        question: &Question,
        now: Timestamp,
        waits: Waits,
        ask: impl FnOnce() -> F,
    ) -> LookedUp
    where
        F: Future<Output = Result<LookedUp, String>> + Send + 'static,
    {
        let until = match waits {
            Waits::Briefly(until) => until,
            Waits::ToTheEnd => Instant::now() + PERSON_WAITS,
        };
        let (id, mut answer) = loop {
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            match self.next(question, now, waits) {
                Next::Known(known) => return known,
                Next::Wait(id, answer) => break (id, answer),
                Next::Ask(place, answer) => {
                    let (id, asked, start) = (place.id, ask(), Instant::now());
                    // Whoever waits may go; it goes on.
                    tokio::spawn(async move { place.end(asked.await, now + start.elapsed()) });
                    break (id, answer);
                }
                Next::NoPlace => {
                    if timeout_at(until, freed).await.is_err() {
                        let after = lock(&self.state).turned_away(self.places);
                        return self.not_yet(after);
                    }
                }
            }
        };
        match timeout_at(until, answer.wait_for(Option::is_some)).await {
            Ok(found) => {
                let found = found.ok().and_then(|found| found.clone());
                lock(&self.state).fetched(id);
                found.unwrap_or_else(|| LookedUp::Failed("the lookup broke off".into()))
            }
            Err(_) => {
                let after = lock(&self.state).in_vain(id);
                self.not_yet(after)
            }
        }
    }

    fn not_yet(&self, after: Duration) -> LookedUp {
        LookedUp::Held {
            after,
            why: format!("event source {} has not answered yet", self.source),
        }
    }

    fn next(self: &Arc<Self>, question: &Question, now: Timestamp, waits: Waits) -> Next {
        let mut state = lock(&self.state);
        state
            .all
            .retain(|one| one.answered_at.is_none_or(|at| at.elapsed() < KEPT_FOR));
        let person = waits == Waits::ToTheEnd;
        if let Some(one) = (!person).then(|| state.asked_before(question)).flatten() {
            return match one.answered_at.is_none() && one.in_vain {
                true => Next::Known(self.not_yet(one.comes_back())),
                false => Next::Wait(one.id, one.answer.clone()),
            };
        }
        if let Some((after, why)) = state.hold.rest(now) {
            return Next::Known(LookedUp::Held { after, why });
        }
        let places = match state.hold.is_probed() {
            true => 1,
            false => self.places,
        };
        let under_way = || state.all.iter().filter(|one| one.answered_at.is_none());
        if under_way().count() < places && (person || state.all.len() < MOST_KEPT) {
            let (place, answer) = state.take((!person).then(|| question.clone()), self.clone());
            return Next::Ask(place, answer);
        }
        match person || under_way().any(|one| !one.in_vain) {
            true => Next::NoPlace,
            false => Next::Known(self.not_yet(state.turned_away(self.places))),
        }
    }
}

impl State {
    /// The same question, where its answer is still true; it is this asker's from now on. One that is out of date is nobody's.
    fn asked_before(&mut self, question: &Question) -> Option<&UnderWay> {
        let is_same = |one: &UnderWay| {
            let asked = one.question.as_ref();
            asked.is_some_and(|asked| asked.is_about_the_same(question))
        };
        let at = self.all.iter().position(is_same)?;
        let asked = self.all[at].question.as_ref()?.asker;
        if question.asker.follows(asked) {
            self.all[at].question = Some(question.clone());
            return Some(&self.all[at]);
        }
        self.all[at].question = None;
        let (id, is_answered) = (self.all[at].id, self.all[at].answered_at.is_some());
        if is_answered {
            self.fetched(id);
        }
        None
    }

    fn take(
        &mut self,
        question: Option<Question>,
        asking: Arc<Asking>,
    ) -> (Place, watch::Receiver<Option<LookedUp>>) {
        self.last_id += 1;
        let (says, answer) = watch::channel(None);
        self.all.push(UnderWay {
            id: self.last_id,
            question,
            answer: answer.clone(),
            asked_at: Instant::now(),
            answered_at: None,
            in_vain: false,
        });
        let place = Place {
            id: self.last_id,
            asked_in: self.hold.number(),
            asking,
            says,
        };
        (place, answer)
    }

    /// Nobody waits for this one any more; when its event is to come back for it.
    fn in_vain(&mut self, id: u64) -> Duration {
        let found = self.all.iter_mut().find(|one| one.id == id);
        found.map_or(retry::probe_source(1), |one| {
            one.in_vain = true;
            one.comes_back()
        })
    }

    fn fetched(&mut self, id: u64) {
        self.all.retain(|one| one.id != id || one.answered_at.is_none());
    }

    /// When an event that found no place is to come back: in its turn, at the pace at which the source answers. Sooner it would be
    /// written once more for nothing.
    fn turned_away(&mut self, places: usize) -> Duration {
        let (shortest, longest) = (retry::probe_source(1), retry::probe_source(u32::MAX));
        let under_way = self.all.iter().filter(|one| one.answered_at.is_none());
        let waited = under_way.map(|one| one.asked_at.elapsed()).max();
        let each = self.took.max(waited.unwrap_or_default()) / u32::try_from(places).unwrap_or(u32::MAX);
        let now = Instant::now();
        let last = self.turn.map_or(now, |turn| turn.max(now));
        let turn = (last + each).min(now + longest);
        self.turn = Some(turn);
        turn.duration_since(now).max(shortest)
    }
}

impl UnderWay {
    fn comes_back(&self) -> Duration {
        let soonest = retry::probe_source(1);
        self.asked_at.elapsed().clamp(soonest, COMES_BACK_WITHIN)
    }
}

#[cfg(test)]
mod tests;
