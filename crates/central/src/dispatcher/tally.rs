//! Counting what rows came to.

/// What a number of rows came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub delivered: u64,
    pub retried: u64,
    pub parked: u64,
    /// Everybody they were for asked not to be written to, or a newer one took their place.
    pub discarded: u64,
    /// Went back into a lane that is held.
    pub waiting: u64,
    /// Come again at their time, uncounted.
    pub postponed: u64,
    pub released: u64,
    /// Somebody else had the row by then.
    pub lost: u64,
}

impl Tally {
    pub fn rows(&self) -> u64 {
        self.delivered
            + self.retried
            + self.parked
            + self.discarded
            + self.waiting
            + self.postponed
            + self.released
            + self.lost
    }

    pub fn add(&mut self, other: &Tally) {
        self.delivered += other.delivered;
        self.retried += other.retried;
        self.parked += other.parked;
        self.discarded += other.discarded;
        self.waiting += other.waiting;
        self.postponed += other.postponed;
        self.released += other.released;
        self.lost += other.lost;
    }

    /// What has come on top of `before`.
    pub fn since(&self, before: &Tally) -> Tally {
        Tally {
            delivered: self.delivered - before.delivered,
            retried: self.retried - before.retried,
            parked: self.parked - before.parked,
            discarded: self.discarded - before.discarded,
            waiting: self.waiting - before.waiting,
            postponed: self.postponed - before.postponed,
            released: self.released - before.released,
            lost: self.lost - before.lost,
        }
    }
}
