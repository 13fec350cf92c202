//! How full the buffer is, known without asking it: counted once when the file is opened, and after every commit.

use super::message::MessageStatus;
use domain::site::Category;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicI64, Ordering},
};

/// About what a row takes besides its payload.
pub(super) const ROW: i64 = 400;
/// About what a piece of news for central takes besides its text.
const NEWS_ROW: i64 = 50;

/// Counts by category and status, and bytes over all of them.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    pending: [AtomicI64; Category::ALL.len()],
    parked: [AtomicI64; Category::ALL.len()],
    bytes: AtomicI64,
    /// Of what central has, its news among it, and that is only remembered.
    remembered: AtomicI64,
    /// Of news that waits for central.
    news: AtomicI64,
}

/// How full the buffer is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Depth {
    pub pending: BTreeMap<Category, u64>,
    pub parked: BTreeMap<Category, u64>,
    /// With news for central, and what is remembered of acknowledged notifications.
    pub bytes: u64,
    /// The part of it that central has acknowledged or heard.
    pub remembered_bytes: u64,
}

impl Depth {
    pub fn waiting(&self) -> u64 {
        self.pending.values().sum()
    }

    pub fn all_parked(&self) -> u64 {
        self.parked.values().sum()
    }
}

impl Gauge {
    pub(super) fn add(&self, category: Category, status: MessageStatus, n: i64, bytes: i64) {
        let counts = match status {
            MessageStatus::Pending => &self.pending,
            MessageStatus::Parked => &self.parked,
        };
        counts[category.number()].fetch_add(n, Ordering::SeqCst);
        self.bytes.fetch_add(bytes + n * ROW, Ordering::SeqCst);
    }

    /// One message changes its status.
    pub(super) fn moved(&self, category: Category, from: MessageStatus, to: MessageStatus) {
        self.add(category, from, -1, 0);
        self.add(category, to, 1, 0);
    }

    /// So many more are remembered, or fewer.
    pub(super) fn remember(&self, n: i64, bytes: i64) {
        self.remembered.fetch_add(bytes + n * ROW, Ordering::SeqCst);
    }

    /// So many pieces of news more wait for central, or fewer.
    pub(super) fn news_waits(&self, n: i64, bytes: i64) {
        self.news.fetch_add(news(n, bytes), Ordering::SeqCst);
    }

    /// So many pieces of news more that central has heard are remembered, or fewer.
    pub(super) fn news_remembered(&self, n: i64, bytes: i64) {
        self.remembered.fetch_add(news(n, bytes), Ordering::SeqCst);
    }

    /// Of messages that wait or are parked.
    pub(super) fn messages(&self) -> u64 {
        positive(&self.bytes)
    }

    /// Of messages, of what is remembered and of news that waits.
    pub(super) fn all(&self) -> u64 {
        self.messages()
            .saturating_add(positive(&self.remembered))
            .saturating_add(positive(&self.news))
    }

    /// Takes over what was counted.
    pub(super) fn set(&self, counted: &Gauge) {
        let copy = |to: &AtomicI64, from: &AtomicI64| to.store(from.load(Ordering::SeqCst), Ordering::SeqCst);
        for (to, from) in self.pending.iter().zip(&counted.pending) {
            copy(to, from);
        }
        for (to, from) in self.parked.iter().zip(&counted.parked) {
            copy(to, from);
        }
        copy(&self.bytes, &counted.bytes);
        copy(&self.remembered, &counted.remembered);
        copy(&self.news, &counted.news);
    }

    pub(super) fn depth(&self) -> Depth {
        let all = |counts: &[AtomicI64; Category::ALL.len()]| {
            Category::ALL
                .iter()
                .map(|c| (*c, positive(&counts[c.number()])))
                .collect()
        };
        Depth {
            pending: all(&self.pending),
            parked: all(&self.parked),
            bytes: self.all(),
            remembered_bytes: positive(&self.remembered),
        }
    }
}

/// About what so many pieces of news take whose texts have so many bytes.
pub(super) fn news(n: i64, bytes: i64) -> i64 {
    bytes + n * NEWS_ROW
}

fn positive(count: &AtomicI64) -> u64 {
    count.load(Ordering::SeqCst).max(0).unsigned_abs()
}
