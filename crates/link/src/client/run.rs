//! Keeps the link up: goes through the addresses, lives through a session, waits, goes on.

use super::{
    LinkClient,
    connect::{Missed, Welcomed, connect},
    session::Session,
    words,
};
use crate::{
    bulk::{BulkDone, ParkedCount},
    calls::central_asked,
    lease::rank_in,
    message::LinkState,
    uplink::SiteCommands,
    wire::v1::{self, act::Action, from_central::What as CentralSays, from_site::What as SiteSays},
};
use domain::{lock::lock, retry::redial, site::DatabaseIdentity};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::Semaphore,
    time::{Instant, MissedTickBehavior, interval, sleep},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// A session that ended sooner than this counts as a failure to connect, so that a central that welcomes and then
/// drops is not dialled in a tight loop.
const SETTLED_AFTER: Duration = Duration::from_secs(10);
/// Questions of central that are answered at once; more are told to come back.
const ANSWERING: usize = 16;
/// Attempts that central may have made at once. Apart from the other questions: an attempt may take seconds to answer.
const TRYING: usize = 8;

impl LinkClient {
    /// Keeps the link up until `stop`. `commands` answers what central asks.
    pub async fn run(self, commands: Arc<dyn SiteCommands>, stop: CancellationToken) {
        let options = &self.0.options;
        let mut turn = 0;
        let mut in_vain = 0;
        while !stop.is_cancelled() && !options.central.is_empty() {
            let address = &options.central[turn % options.central.len()];
            turn += 1;
            let connected = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                connected = connect(options, address) => connected,
            };
            let missed = match connected {
                Err(missed) => missed,
                Ok(welcomed) => {
                    let began = Instant::now();
                    let why = self.live(welcomed, address.to_string(), &commands, &stop).await;
                    if began.elapsed() >= SETTLED_AFTER {
                        in_vain = 0;
                    }
                    Missed { why, refused: false }
                }
            };
            self.down(&missed.why);
            in_vain += 1;
            // The other addresses are tried before anybody waits.
            if in_vain % options.central.len() == 0 {
                let rounds = u32::try_from(in_vain / options.central.len()).unwrap_or(u32::MAX);
                let wait = redial(rounds, missed.refused, (options.jitter)());
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = sleep(wait) => {}
                }
            }
        }
        self.down("the agent is stopping");
    }

    /// One session, from welcome to end; answers why it ended.
    async fn live(
        &self,
        welcomed: Welcomed,
        address: String,
        commands: &Arc<dyn SiteCommands>,
        stop: &CancellationToken,
    ) -> String {
        let Welcomed {
            session,
            mut inbound,
            database,
            central,
            heard,
        } = welcomed;
        tracing::info!(site.id = %self.0.options.site, link.address = %address, link.central = %central, "the link is up");
        self.up(session.clone(), database, address);
        let tasks = TaskTracker::new();
        tasks.spawn(report(
            session.clone(),
            commands.clone(),
            self.0.options.pace.report,
        ));
        let answering = Arc::new(Semaphore::new(ANSWERING));
        let trying = Arc::new(Semaphore::new(TRYING));
        loop {
            let frame = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    session.end("the agent is stopping");
                    break;
                }
                () = session.ended().cancelled() => break,
                frame = inbound.message() => frame,
            };
            let v1::FromCentral { call, what, holder } = match frame {
                Ok(Some(frame)) => frame,
                Ok(None) => {
                    session.end("central closed the link");
                    break;
                }
                Err(status) => {
                    session.end(words::broke(&status, &heard, self.0.options.pace.keep_alive));
                    break;
                }
            };
            match what {
                Some(CentralSays::Goodbye(v1::Goodbye { reason })) => {
                    session.end(reason);
                    break;
                }
                Some(CentralSays::Database(database)) => self.database_changed(database),
                question if central_asked(call) => {
                    let room = if is_try(question.as_ref()) {
                        &trying
                    } else {
                        &answering
                    };
                    let room = room.clone().try_acquire_owned();
                    let (session, commands) = (session.clone(), commands.clone());
                    tasks.spawn(async move {
                        let answer = match room {
                            Ok(_room) => answer_as(&*commands, holder, question).await,
                            Err(_) => failed("the site is busy with other questions"),
                        };
                        session.say(call, answer).await;
                    });
                }
                Some(answer) => session.answered(call, answer),
                // News from a newer central.
                None => {}
            }
        }
        lock(&self.0.session).take();
        session.why_ended()
    }

    fn up(&self, session: Arc<Session>, central: DatabaseIdentity, address: String) {
        *lock(&self.0.session) = Some(session);
        lock(&self.0.reasons).forget();
        self.0.state.send_replace(LinkState::Up {
            since: self.0.options.clock.now(),
            central,
            address,
        });
        metrics::gauge!("waypost_link_up").set(1);
    }

    /// Says so once for each reason, however many dials fail after it; the latest one is kept for whoever asks.
    fn down(&self, why: &str) {
        metrics::gauge!("waypost_link_up").set(0);
        let site = &self.0.options.site;
        let now = self.0.options.clock.now();
        self.0.state.send_if_modified(|state| {
            let since = match state {
                LinkState::Down { why: known, .. } if known == why => return false,
                LinkState::Down { since, .. } => *since,
                LinkState::Up { .. } => now,
            };
            match lock(&self.0.reasons).is_new(why) {
                true => tracing::warn!(site.id = %site, reason = why, "the link is down"),
                false => tracing::debug!(site.id = %site, reason = why, "the link is down"),
            }
            *state = LinkState::Down {
                since,
                why: why.into(),
            };
            true
        });
    }

    fn database_changed(&self, database: v1::Database) {
        let Ok(now) = DatabaseIdentity::try_from(database) else {
            return;
        };
        self.0.state.send_if_modified(|state| match state {
            LinkState::Up { central, .. } if *central != now => {
                *central = now;
                true
            }
            LinkState::Up { .. } | LinkState::Down { .. } => false,
        });
    }
}

/// Ends the session when it is dropped: what it stands in ends only together with the session, or by a panic.
struct EndsWith(Arc<Session>);

impl Drop for EndsWith {
    fn drop(&mut self) {
        self.0
            .end("this site could not report any more; its log says why");
    }
}

/// Without reports central would believe the last one for as long as the link is up.
async fn report(session: Arc<Session>, commands: Arc<dyn SiteCommands>, every: Duration) {
    let _ends = EndsWith(session.clone());
    let mut tick = interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = session.ended().cancelled() => return,
            _ = tick.tick() => {}
        }
        let report = commands.report().await;
        session.say(0, SiteSays::Report(report.into())).await;
    }
}

/// Whether the answer waits for the end of an attempt.
fn is_try(question: Option<&CentralSays>) -> bool {
    matches!(question, Some(CentralSays::Act(act)) if act.action() == Action::TryWaiting)
}

/// A question that is meant for the holder of another turn is not looked at.
async fn answer_as(
    commands: &dyn SiteCommands,
    holder: Option<v1::Turn>,
    question: Option<CentralSays>,
) -> SiteSays {
    let holds = match holder.map(|turn| rank_in(Some(turn))) {
        None => Ok(()),
        Some(Ok(turn)) => commands.holds(turn),
        Some(Err(why)) => return failed(why),
    };
    match holds {
        Ok(()) => answer(commands, question).await,
        Err(not_holder) => SiteSays::Failed(v1::Failed {
            reason: not_holder.to_string(),
            turn: not_holder.turn.map(Into::into),
        }),
    }
}

async fn answer(commands: &dyn SiteCommands, question: Option<CentralSays>) -> SiteSays {
    let answered = match question {
        Some(CentralSays::AskParked(page)) => match page.try_into() {
            Ok(page) => commands.parked(page).await.map(|a| SiteSays::Parked(a.into())),
            Err(why) => Err(why),
        },
        Some(CentralSays::Act(v1::Act { action, id, by })) => match Action::try_from(action) {
            Ok(Action::Retry) => commands.retry(&id, &by).await.map(|a| SiteSays::Acted(a.into())),
            Ok(Action::Discard) => commands
                .discard(&id, &by)
                .await
                .map(|a| SiteSays::Acted(a.into())),
            Ok(Action::TryWaiting) => commands
                .try_waiting(&id, &by)
                .await
                .map(|a| SiteSays::Acted(a.into())),
            Ok(Action::DiscardWaiting) => commands
                .discard_waiting(&id, &by)
                .await
                .map(|a| SiteSays::Acted(a.into())),
            Ok(Action::Nothing) | Err(_) => return SiteSays::Unknown(v1::Unknown {}),
        },
        Some(CentralSays::AskWaiting(page)) => match page.try_into() {
            Ok(page) => commands.waiting(page).await.map(|a| SiteSays::Waiting(a.into())),
            Err(why) => Err(why),
        },
        Some(CentralSays::Count(v1::Count { filter })) => match filter.unwrap_or_default().try_into() {
            Ok(filter) => commands.count_parked(filter).await.map(|counted| {
                let ParkedCount { total, until } = counted;
                SiteSays::Counted(v1::Counted { total, until })
            }),
            Err(why) => Err(why),
        },
        Some(CentralSays::ActOnMany(step)) => match step.try_into() {
            Ok(step) => commands.act_on_many(step).await.map(|acted| {
                let BulkDone { done, next } = acted;
                SiteSays::ActedOnMany(v1::ActedOnMany { done, next })
            }),
            Err(why) => Err(why),
        },
        Some(CentralSays::AskReport(_)) => Ok(SiteSays::Report(commands.report().await.into())),
        _ => return SiteSays::Unknown(v1::Unknown {}),
    };
    answered.unwrap_or_else(failed)
}

fn failed(why: impl Into<String>) -> SiteSays {
    SiteSays::Failed(v1::Failed {
        reason: why.into(),
        turn: None,
    })
}
