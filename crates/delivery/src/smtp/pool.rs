//! Sessions that are kept open between attempts, so that most mails need no handshake.

use super::{session::Session, wire::Log};
use domain::lock::lock;
use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};
use tokio::time::{Instant, sleep};

const MAX_IDLE_SESSIONS: usize = 32;
/// Shorter than what servers grant an idle client.
const SESSION_IDLE_LIMIT: Duration = Duration::from_secs(60);
/// Also bounds how long a session outlives the token it was opened with.
const MAX_SESSION_AGE: Duration = Duration::from_secs(10 * 60);
const MAX_MAILS_PER_SESSION: u32 = 1_000;

/// Idle sessions of one provider. Sessions in use belong to their attempt.
#[derive(Debug, Default, Clone)]
pub(super) struct Pool(Arc<Mutex<Idle>>);

#[derive(Debug, Default)]
struct Idle {
    sessions: Vec<(Instant, Session)>,
    reaper_runs: bool,
}

impl Pool {
    /// The session used last, if one is still fit. The far end may close it the very next moment all the same.
    pub fn take(&self) -> Option<Session> {
        loop {
            let (since, mut session) = lock(&self.0).sessions.pop()?;
            if is_fresh(since, &session) && session.wire.is_quiet() {
                return Some(session);
            }
            session.wire.quit();
        }
    }

    /// Keeps a session that has just ended a transaction in good order.
    pub fn put(&self, mut session: Session) {
        // Its next attempt has a transcript of its own, or none.
        session.wire.log = Log::default();
        let now = Instant::now();
        let mut idle = lock(&self.0);
        if !is_fresh(now, &session) || idle.sessions.len() >= MAX_IDLE_SESSIONS {
            drop(idle);
            session.wire.quit();
            return;
        }
        idle.sessions.push((now, session));
        if !idle.reaper_runs {
            idle.reaper_runs = true;
            tokio::spawn(reap(Arc::downgrade(&self.0)));
        }
    }
}

fn is_fresh(since: Instant, session: &Session) -> bool {
    since.elapsed() < SESSION_IDLE_LIMIT
        && session.born.elapsed() < MAX_SESSION_AGE
        && session.used < MAX_MAILS_PER_SESSION
}

/// Closes what nobody came back for, then ends.
async fn reap(pool: Weak<Mutex<Idle>>) {
    loop {
        sleep(SESSION_IDLE_LIMIT).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut idle = lock(&pool);
        let (fresh, stale): (Vec<_>, Vec<_>) = std::mem::take(&mut idle.sessions)
            .into_iter()
            .partition(|(since, session)| is_fresh(*since, session));
        idle.sessions = fresh;
        idle.reaper_runs = !idle.sessions.is_empty();
        let done = !idle.reaper_runs;
        drop(idle);
        for (_, session) in stale {
            session.wire.quit();
        }
        if done {
            return;
        }
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
