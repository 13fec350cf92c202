//! What has just changed, for whoever watches live, here or on another node. Nobody listening costs nothing; a slow
//! listener misses some and is told how many.
//!
//! Always true: other nodes are told only while somebody watches there, after the commit, and at most
//! [`TOLD_AT_ONCE`] changes every [`TELL_EVERY`]; of a notification that changed more often in that time the last
//! change counts.

use domain::{NotificationId, lock::lock};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use store::{Signals, signals::Signal};
use tokio::{
    sync::{Notify, broadcast},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

pub use store::signals::Change;

/// How long changes gather before other nodes are told.
const TELL_EVERY: Duration = Duration::from_millis(250);
/// The most changes other nodes are told at once; the rest are counted.
const TOLD_AT_ONCE: usize = 200;
/// How often a node says that somebody watches there,
const SAY_WATCHED_EVERY: Duration = Duration::from_secs(5);
/// and for how long it is believed.
const WATCHED_FOR: Duration = Duration::from_secs(15);

/// What a listener hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    Change(Change),
    /// So many changes are not told one by one, or more: what was not heard cannot be counted.
    Missed(u64),
}

#[derive(Debug, Clone)]
pub struct Changes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    here: broadcast::Sender<News>,
    /// Somebody watches on another node.
    elsewhere: AtomicBool,
    gathered: Mutex<Gathered>,
    bell: Notify,
}

/// What is to be told to other nodes.
#[derive(Debug, Default)]
struct Gathered {
    watched_until: Option<Instant>,
    changes: Vec<Change>,
    place: HashMap<NotificationId, usize>,
    missed: u64,
}

impl Default for Changes {
    fn default() -> Self {
        Self(Arc::new(Inner {
            here: broadcast::channel(1024).0,
            elsewhere: AtomicBool::new(false),
            gathered: Mutex::default(),
            bell: Notify::new(),
        }))
    }
}

impl Changes {
    pub fn subscribe(&self) -> broadcast::Receiver<News> {
        let heard = self.0.here.subscribe();
        self.0.bell.notify_one();
        heard
    }

    /// Whether telling is worth the while: somebody watches, here or elsewhere.
    pub fn is_watched(&self) -> bool {
        self.is_watched_here() || self.0.elsewhere.load(Ordering::Relaxed)
    }

    fn is_watched_here(&self) -> bool {
        self.0.here.receiver_count() > 0
    }

    /// Tells of a change that was made here and is on disk.
    pub fn tell(&self, change: Change) {
        if self.0.elsewhere.load(Ordering::Relaxed) && self.gathered().add(change.clone()) {
            self.0.bell.notify_one();
        }
        // No receiver is the normal case, not a failure.
        let _ = self.0.here.send(News::Change(change));
    }

    /// Tells of what changed on another node.
    pub fn heard(&self, changes: Vec<Change>, missed: u64) {
        for change in changes {
            let _ = self.0.here.send(News::Change(change));
        }
        if missed > 0 {
            let _ = self.0.here.send(News::Missed(missed));
        }
    }

    /// Other nodes were not heard for a while: who watches here may have missed something. So may others have of this node,
    /// which may not have heard that they watch.
    pub(crate) fn was_deaf(&self) {
        self.heard(vec![], 1);
        self.gathered().missed += 1;
        self.0.bell.notify_one();
    }

    /// Somebody watches on another node, which says so again and again.
    pub(crate) fn watched_elsewhere(&self) {
        self.gathered().watched_until = Some(Instant::now() + WATCHED_FOR);
        self.0.elsewhere.store(true, Ordering::Relaxed);
        self.0.bell.notify_one();
    }

    /// Tells other nodes what changed here while somebody watches there, and that somebody watches here while it is so.
    pub(crate) async fn run(self, signals: Arc<dyn Signals>, stop: CancellationToken) {
        let mut said: Option<Instant> = None;
        loop {
            let watched = self.is_watched_here();
            if watched && said.is_none_or(|at| at.elapsed() >= SAY_WATCHED_EVERY) {
                signals.announce(Signal::Watching);
                said = Some(Instant::now());
            }
            if let Some((changes, missed)) = self.take() {
                signals.announce(Signal::Changes { changes, missed });
            }
            let watched_until = self.watched_until();
            let again = said.map_or_else(Instant::now, |at| at + SAY_WATCHED_EVERY);
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.0.bell.notified() => {
                    // Somebody new is announced at once; changes gather for a moment.
                    if !self.gathered().changes.is_empty() {
                        tokio::select! { () = stop.cancelled() => return, () = sleep(TELL_EVERY) => {} }
                    }
                }
                () = sleep_until(again), if watched => {}
                () = sleep_until(watched_until.unwrap_or(again)), if watched_until.is_some() => {}
            }
        }
    }

    /// Until when other nodes are to be told; none when nobody watches there any more.
    fn watched_until(&self) -> Option<Instant> {
        let mut gathered = self.gathered();
        if gathered
            .watched_until
            .is_some_and(|until| until <= Instant::now())
        {
            self.0.elsewhere.store(false, Ordering::Relaxed);
            *gathered = Gathered::default();
        }
        gathered.watched_until
    }

    fn take(&self) -> Option<(Vec<Change>, u64)> {
        let mut gathered = self.gathered();
        if gathered.changes.is_empty() && gathered.missed == 0 {
            return None;
        }
        gathered.place.clear();
        Some((
            std::mem::take(&mut gathered.changes),
            std::mem::take(&mut gathered.missed),
        ))
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        lock(&self.0.gathered)
    }
}

impl Gathered {
    /// Answers whether it is the first since others were told.
    fn add(&mut self, change: Change) -> bool {
        if let Some(place) = self.place.get(&change.id) {
            // Two tenants may use one id; then both are told.
            if self.changes[*place].tenant == change.tenant {
                self.changes[*place] = change;
                return false;
            }
        }
        if self.changes.len() >= TOLD_AT_ONCE {
            self.missed += 1;
            return false;
        }
        self.place.insert(change.id, self.changes.len());
        self.changes.push(change);
        self.changes.len() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Status, TenantId};

    fn change(id: NotificationId, status: Status) -> Change {
        Change {
            tenant: TenantId::DEFAULT,
            id,
            status,
            code: None,
        }
    }

    #[test]
    fn nothing_is_gathered_for_others_while_nobody_watches_there() {
        let changes = Changes::default();
        changes.tell(change(NotificationId::mint(), Status::Pending));
        assert_eq!((changes.is_watched(), changes.take()), (false, None));
        changes.watched_elsewhere();
        assert!(changes.is_watched());
        changes.tell(change(NotificationId::mint(), Status::Pending));
        assert_eq!(changes.take().unwrap().0.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn others_are_no_longer_told_once_they_stop_saying_that_they_watch() {
        let changes = Changes::default();
        changes.watched_elsewhere();
        tokio::time::advance(WATCHED_FOR).await;
        assert_eq!(changes.watched_until(), None);
        changes.tell(change(NotificationId::mint(), Status::Pending));
        assert_eq!((changes.is_watched(), changes.take()), (false, None));
    }

    #[test]
    fn the_last_change_of_a_notification_counts_and_the_rest_is_bounded_and_counted() {
        let changes = Changes::default();
        changes.watched_elsewhere();
        let first = NotificationId::mint();
        changes.tell(change(first, Status::Pending));
        for _ in 0..TOLD_AT_ONCE + 5 {
            changes.tell(change(NotificationId::mint(), Status::Pending));
        }
        changes.tell(change(first, Status::Delivered));
        let (told, missed) = changes.take().unwrap();
        assert_eq!((told.len(), missed), (TOLD_AT_ONCE, 6));
        assert_eq!(told[0], change(first, Status::Delivered));
        assert_eq!(changes.take(), None);
    }

    #[tokio::test]
    async fn after_a_while_without_hearing_others_something_may_be_missing_here_and_there() {
        let changes = Changes::default();
        let mut heard = changes.subscribe();
        changes.was_deaf();
        assert_eq!(heard.recv().await.unwrap(), News::Missed(1));
        assert_eq!(changes.take(), Some((vec![], 1)));
        assert_eq!(changes.take(), None);
    }

    #[tokio::test]
    async fn what_another_node_tells_is_heard_here_and_not_told_on() {
        let changes = Changes::default();
        changes.watched_elsewhere();
        let mut heard = changes.subscribe();
        let news = change(NotificationId::mint(), Status::Parked);
        changes.heard(vec![news.clone()], 3);
        assert_eq!(heard.recv().await.unwrap(), News::Change(news));
        assert_eq!(heard.recv().await.unwrap(), News::Missed(3));
        assert_eq!(changes.take(), None);
    }
}
