//! What the services that are played here tell later about messages they took: receipts, late, out of order or twice, as told.
//!
//! Leaves to others: what each service's callback looks like (`shapes`), who is told about it (an address that the message
//! carries, or one that was entered here).
//! Always true: nothing is told until somebody asked for it, about what arrives ([`Receipts::tell`]) or about what has arrived
//! ([`Receipts::tell_about`]); calls go to loopback addresses only.

mod post;
mod shapes;

pub(crate) use post::stays_here;
pub(crate) use shapes::TELLING;

use crate::http::Received;
use rand::seq::SliceRandom;
use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// What is told about each message from now on.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiptPlan {
    /// In this order: `accepted`, `delivered`, `read`, `failed`.
    pub states: Vec<String>,
    /// The service's own code of a failure.
    pub code: Option<String>,
    /// How long after the message the first of them goes out.
    pub after: Duration,
    /// In any order instead.
    pub shuffled: bool,
    /// Each of them two times.
    pub twice: bool,
}

impl Default for ReceiptPlan {
    fn default() -> Self {
        Self {
            states: ["accepted", "delivered", "read"].map(str::to_owned).to_vec(),
            code: None,
            after: Duration::ZERO,
            shuffled: false,
            twice: false,
        }
    }
}

/// Where a service was told to send receipts, and what it signs them with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallbackPlace {
    /// None: the message says where.
    pub url: Option<String>,
    pub secret: String,
}

/// Messages that can be told about later; the oldest go first.
const MAX_KEPT: usize = 1_000;

/// What is on its way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Telling {
    /// Messages that it is about.
    pub messages: usize,
    pub receipts: usize,
    /// Messages that carry no address, of services that were given none.
    pub unaddressed: usize,
}

/// What has been told so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReceiptCounts {
    /// Answered with a success.
    pub taken: u64,
    /// Answered otherwise, or not at all.
    pub refused: u64,
}

#[derive(Debug, Default)]
pub struct Receipts {
    told: Mutex<TellingState>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct TellingState {
    plan: Option<ReceiptPlan>,
    /// The one service that the plan is for.
    only: Option<String>,
    kept: VecDeque<shapes::Sent>,
    /// By service.
    places: HashMap<String, CallbackPlace>,
}

#[derive(Debug, Default)]
struct Counts {
    taken: AtomicU64,
    refused: AtomicU64,
}

impl Receipts {
    /// From now on; none: nothing more is told.
    pub fn tell(&self, plan: Option<ReceiptPlan>) {
        self.tell_of(None, plan);
    }

    /// The same for one service, and nothing about the others.
    pub fn tell_of(&self, service: Option<String>, plan: Option<ReceiptPlan>) {
        let mut told = self.lock();
        told.plan = plan;
        told.only = service;
    }

    pub fn plan(&self) -> Option<ReceiptPlan> {
        self.lock().plan.clone()
    }

    /// About messages that have arrived: the last so many, of one service or of all.
    pub(crate) fn tell_about(
        &self,
        service: Option<&str>,
        last: usize,
        plan: &ReceiptPlan,
        stop: &CancellationToken,
    ) -> Telling {
        let mut telling = Telling::default();
        let told = self.lock();
        let wanted = |sent: &&shapes::Sent| service.is_none_or(|service| sent.service() == service);
        for sent in told.kept.iter().rev().filter(wanted).take(last) {
            let place = told.places.get(sent.service()).cloned().unwrap_or_default();
            telling.messages += 1;
            telling.unaddressed += usize::from(!sent.is_addressed(&place));
            telling.receipts += self.send(sent, plan, &place, stop);
        }
        telling
    }

    pub(crate) fn forget(&self) {
        self.lock().kept.clear();
    }

    /// What a service is to send its receipts to.
    pub fn place(&self, service: &str, place: CallbackPlace) {
        self.lock().places.insert(service.to_owned(), place);
    }

    pub fn counts(&self) -> ReceiptCounts {
        ReceiptCounts {
            taken: self.counts.taken.load(Ordering::Relaxed),
            refused: self.counts.refused.load(Ordering::Relaxed),
        }
    }

    fn lock(&self) -> MutexGuard<'_, TellingState> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A service has taken a message; what it tells about it is on its way.
    pub(crate) fn taken(&self, request: &Received, answer: &str, stop: &CancellationToken) {
        let service = request.path.split('/').nth(1).unwrap_or_default();
        let Some(sent) = shapes::Sent::read(service, request, answer) else {
            return;
        };
        let (plan, place) = {
            let mut told = self.lock();
            if told.kept.len() >= MAX_KEPT {
                told.kept.pop_front();
            }
            told.kept.push_back(sent.clone());
            let for_it = told.only.as_deref().is_none_or(|only| only == service);
            let Some(plan) = told.plan.clone().filter(|_| for_it) else {
                return;
            };
            (plan, told.places.get(service).cloned().unwrap_or_default())
        };
        self.send(&sent, &plan, &place, stop);
    }

    /// How many are on their way.
    fn send(
        &self,
        sent: &shapes::Sent,
        plan: &ReceiptPlan,
        place: &CallbackPlace,
        stop: &CancellationToken,
    ) -> usize {
        let mut states = plan.states.clone();
        if plan.twice {
            states = states
                .iter()
                .flat_map(|state| [state.clone(), state.clone()])
                .collect();
        }
        if plan.shuffled {
            states.shuffle(&mut rand::rng());
        }
        let calls: Vec<_> = states
            .iter()
            .filter_map(|state| sent.call(place, state, plan.code.as_deref()))
            .collect();
        let (counts, stop) = (self.counts.clone(), stop.clone());
        let (n, after) = (calls.len(), plan.after);
        tokio::spawn(stop.run_until_cancelled_owned(async move {
            tokio::time::sleep(after).await;
            for call in calls {
                match post::post(&call).await {
                    Some(200..=299) => counts.taken.fetch_add(1, Ordering::Relaxed),
                    _ => counts.refused.fetch_add(1, Ordering::Relaxed),
                };
            }
        }));
        n
    }
}
