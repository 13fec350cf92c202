//! A message that somebody sent to the standby: it is passed on to the active one, and kept here where that cannot be asked.
//!
//! Leaves to others: what is done when nobody knows what became of it (`domain::pair::sending`), the file it is kept in ([`super::own`]).
//! Always true: nothing is kept here that the active one may have taken, but a notification, whose repeat central knows.

use super::{Pair, passed_words};
use crate::{Agent, Outgoing, SendError, Sent, intake::keepable};
use domain::{
    lock::lock,
    pair::{PassedOn, Role, ThenStandby, after_passing_on},
};
use link::peer::{HandIn, NotSent, PeerSession, SendAnswered, SendAsked, SendRefused};
use std::{sync::Weak, time::Duration};
use store::buffer::{Enqueued, NewMessage};
use tokio::{
    sync::{Mutex, Semaphore},
    time::{Instant, timeout},
};

/// Messages that are passed on at once; the other answers as many.
const AT_ONCE: usize = 24;
/// How long one waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the active one may take for a notification: a commit, and waiting for this standby where that is asked for.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(8);
/// And for a call or write, which it tries at once. Longer than an attempt, shorter than a request.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(150);
/// A connection that was used a moment ago is there; otherwise it is looked at first, so that what is sent over it either arrives or
/// certainly does not.
const TRUSTED_FOR: Duration = Duration::from_secs(1);
/// After the other could not be asked, nobody waits for that again so soon.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(2);

/// The connection that messages are passed on over. Rows and leases are not in its way, nor it in theirs.
#[derive(Debug)]
pub(super) struct Passing {
    connection: Mutex<Connection>,
    turns: Semaphore,
}

#[derive(Debug, Default)]
struct Connection {
    session: Option<(PeerSession, Instant)>,
    failed: Option<(String, Instant)>,
}

impl Default for Passing {
    fn default() -> Self {
        Self {
            connection: Mutex::default(),
            turns: Semaphore::new(AT_ONCE),
        }
    }
}

impl Pair {
    /// How many messages this machine has accepted as the standby that no active one has yet.
    pub fn own_rows(&self) -> u64 {
        self.own.count()
    }

    /// What becomes of a message that was sent to this machine, which is the standby. `new` is the same as a row.
    pub(crate) async fn pass_on(&self, outgoing: &Outgoing, new: NewMessage) -> Result<Sent, SendError> {
        if self.standing().history.last().is_none() {
            return Err(SendError::Standby(
                "neither machine of this site has ever been active: `waypost site promote` says which is to be".into(),
            ));
        }
        let Ok(Ok(_turn)) = timeout(TURN_TIMEOUT, self.passing.turns.acquire()).await else {
            return Err(SendError::Standby(
                "too many messages are being passed on to the active machine; send it there".into(),
            ));
        };
        let category = outgoing.category;
        let limit = match category.is_forwarded() {
            true => NOTIFICATION_TIMEOUT,
            false => ATTEMPT_TIMEOUT,
        };
        let answer = match self.connection().await {
            Ok(mut session) => session.send(passed_words::asked(new.id, outgoing), limit).await,
            Err(why) => Err(NotSent::NotTaken(why)),
        };
        let passed_on = match &answer {
            Ok(_) => PassedOn::Answered,
            Err(NotSent::NotTaken(_)) => PassedOn::NotTaken,
            Err(NotSent::Unknown(_)) => PassedOn::Unknown,
        };
        if let Err(NotSent::NotTaken(why) | NotSent::Unknown(why)) = &answer {
            self.lost_connection(why).await;
        }
        match (after_passing_on(passed_on, category.is_forwarded()), answer) {
            (_, Ok(answered)) => passed_words::sent(new.id, answered),
            (ThenStandby::SaysUnknown, Err(_)) => Err(SendError::OutcomeUnknown(new.id)),
            (ThenStandby::KeepsIt | ThenStandby::Answers, Err(_)) => self.keep(outgoing, new).await,
        }
    }

    async fn connection(&self) -> Result<PeerSession, String> {
        if let Some(why) = lock(&self.seen).trouble.clone() {
            return Err(why);
        }
        let mut connection = self.passing.connection.lock().await;
        if let Some((why, at)) = &connection.failed
            && at.elapsed() < PAUSE_AFTER_FAILURE
        {
            return Err(why.clone());
        }
        let found = match connection.session.take() {
            Some((session, at)) if at.elapsed() < TRUSTED_FOR => Ok(session),
            Some((mut session, _)) => match session.look().await {
                Ok(node) => {
                    session.node = node;
                    Ok(session)
                }
                Err(_) => self.ask().await,
            },
            None => self.ask().await,
        };
        let found = found.and_then(|session| match session.node.role {
            Role::Active => Ok(session),
            Role::Standby => Err("neither machine is active".into()),
        });
        let now = Instant::now();
        match &found {
            Ok(session) => {
                connection.session = Some((session.clone(), now));
                connection.failed = None;
            }
            Err(why) => connection.failed = Some((why.clone(), now)),
        }
        found
    }

    async fn lost_connection(&self, why: &str) {
        let mut connection = self.passing.connection.lock().await;
        connection.session = None;
        tracing::debug!(
            reason = why,
            "a message could not be passed on to the active machine"
        );
    }

    /// As a row that the other machine has never been shown.
    async fn keep(&self, outgoing: &Outgoing, new: NewMessage) -> Result<Sent, SendError> {
        let (id, category) = (new.id, new.category);
        let new = keepable(new, outgoing.options.trace);
        // What the active one had told before it was gone is known here.
        if let Some(known) = self.buffer.knows(new.clone()).await? {
            return Sent::known(id, known);
        }
        let mut kept = match self.own.accept(new).await? {
            Enqueued::New(_) => Sent::queued(id, category),
            Enqueued::Known(known) => Sent::known(id, known)?,
            Enqueued::NoRoom(why) => return Err(SendError::NoRoom(why)),
        };
        kept.replicated = self.settings.wait_for_standby.then_some(false);
        Ok(kept)
    }

    /// Hands in what this standby accepted itself; how many messages those were.
    pub(super) async fn hand_in_own(&self, session: &mut PeerSession) -> Result<u64, String> {
        let (mut n, mut place) = (0, None);
        let broken = |e: store::Error| domain::chain(&e);
        while let Some((rows, last)) = self.own.behind(place).await.map_err(broken)? {
            n += rows.len() as u64;
            let handed = HandIn {
                messages: rows,
                ..HandIn::default()
            };
            session.hand_in(handed).await?;
            place = Some(last);
        }
        if n > 0 {
            tracing::warn!(
                n,
                "messages that this standby accepted itself are with the active one"
            );
        }
        Ok(n)
    }
}

/// The active one takes in what its standby was sent.
pub(super) async fn take_in(agent: Weak<Agent>, message: SendAsked) -> Result<SendAnswered, NotSent> {
    let not_taken = |why: &str| NotSent::NotTaken(why.to_owned());
    let agent = agent
        .upgrade()
        .ok_or_else(|| not_taken("this machine is stopping"))?;
    if agent.site.is_standby() {
        return Err(not_taken("this machine is not the active one"));
    }
    match agent.site.send(passed_words::outgoing(message)).await {
        Ok(sent) => Ok(SendAnswered::Taken(passed_words::taken(sent))),
        Err(SendError::Invalid(fields)) => Ok(SendAnswered::Refused(SendRefused::Invalid(fields))),
        Err(SendError::Conflict(words)) => Ok(SendAnswered::Refused(SendRefused::Conflict(words))),
        Err(SendError::NoRoom(words)) => Ok(SendAnswered::Refused(SendRefused::NoRoom(words))),
        Err(error @ (SendError::Stopping | SendError::Standby(_))) => Err(not_taken(&error.to_string())),
        Err(error @ (SendError::Unavailable(_) | SendError::OutcomeUnknown(_))) => {
            Err(NotSent::Unknown(domain::chain(&error)))
        }
    }
}
