//! The loop that asks for the lease: of the standby while it follows, of central where it does not; and that takes over when the
//! active one is gone.

use super::{LeaseState, Pair, Turn, Witness};
use async_trait::async_trait;
use domain::{
    lock::lock,
    pair::{Epoch, Giver, LeaseAnswer, LeaseAsk, Rank, Role, Standing, Wanted, lease::LEASE_TIMEOUT},
};
use link::peer::PeerSession;
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use store::loops::{About, Loop, Swept};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// A lease is asked for again when a fifth of it has passed.
const ASKS_PER_LEASE: u32 = 5;
/// However short it is, and however long.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// Central hears of a turn it gave no lease for with every so many renewals.
const MAKE_KNOWN_EVERY: u32 = 4;

/// Asks for the lease again and again.
pub(crate) struct Renewing {
    pair: Arc<Pair>,
    leases: Arc<LeaseState>,
    witness: Arc<dyn Witness>,
    stop: CancellationToken,
    /// A connection of its own: rows on the other one are not in its way.
    session: Option<PeerSession>,
    renewals: u32,
    /// The question that no answer has come to, and in which turn it was asked.
    unanswered: Option<(Uuid, Rank)>,
    /// The turn of a machine that needs no lease, once central knows of it.
    told: Option<Rank>,
    /// What earlier runs of this machine gave was seen to be over.
    outlived: bool,
}

#[async_trait]
impl Loop for Renewing {
    fn about(&self) -> About {
        About::every(
            "lease",
            "asks for the right to attempt what both machines know, or takes over",
            pause(self.leases.lease()),
        )
    }

    async fn sweep(&mut self) -> Swept {
        let stop = self.stop.clone();
        let done = tokio::select! {
            biased;
            () = stop.cancelled() => return Swept::did("stopped"),
            done = self.renew() => done,
        };
        self.pair.look_at_lease();
        let why = done.as_ref().err().cloned();
        *lock(&self.pair.no_lease) = why;
        // Shown as why calls are held; that a site has no lease is no fault of this loop.
        let swept = Swept::did(done.unwrap_or_else(|why| why));
        // Whoever gives the lease may give a shorter one than was asked for.
        match self.leases.held() {
            Some(held) => swept.within(pause(held.left)),
            None => swept,
        }
    }
}

/// How soon a lease of which so much is left is asked for again.
fn pause(left: Duration) -> Duration {
    (left / ASKS_PER_LEASE).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
}

impl Renewing {
    pub fn new(pair: Arc<Pair>, stop: CancellationToken) -> Option<Self> {
        let automatic = pair.settings.automatic.clone()?;
        Some(Self {
            pair,
            leases: automatic.leases,
            witness: automatic.witness,
            stop,
            session: None,
            renewals: 0,
            unanswered: None,
            told: None,
            outlived: false,
        })
    }

    async fn renew(&mut self) -> Result<String, String> {
        // Nobody else asks: a question that is open is one whose asker was stopped in the middle of it.
        self.leases.gave_up_all();
        // Whoever cannot write anything down lets the lease run out, and does not take over.
        self.pair.disk_answers()?;
        self.pair.tries_disk();
        if !self.outlived && self.leases.waits().0.is_zero() {
            let written = self.leases.outlives_earlier_runs(&self.pair.buffer).await;
            self.outlived = written.is_ok();
        }
        let standing = self.pair.standing();
        match standing.role {
            Role::Active if standing.sole => Ok(self.tell_turn(&standing).await),
            Role::Active => self.renew_active(&standing).await,
            Role::Standby => self.watch_active(&standing).await,
        }
    }

    /// A machine that needs no lease, because a person said so or nobody else has anything of it, has central know its turn: whoever
    /// asks there later has not seen it, and leaves alone what was attempted in it.
    async fn tell_turn(&mut self, standing: &Standing) -> String {
        const NEEDS_NONE: &str =
            "no other machine has anything of this one, or a person said that it does not run";
        if self.told == Some(standing.history.rank()) {
            return NEEDS_NONE.into();
        }
        match self.ask_witness(standing, Wanted::Known).await {
            Ok(()) => {
                // Central may have given it a turn above one that it had not heard of.
                self.told = Some(self.pair.standing().history.rank());
                NEEDS_NONE.into()
            }
            Err(why) => format!("{NEEDS_NONE}; central does not know of its turn yet ({why})"),
        }
    }

    async fn renew_active(&mut self, standing: &Standing) -> Result<String, String> {
        let Err(standby) = self.ask_standby(standing).await else {
            // In force at once, and not only when central has answered what follows.
            self.pair.look_at_lease();
            if standing.stale && self.pair.learns.load(Ordering::SeqCst) {
                let follows = self.pair.buffer.other_follows().await;
                follows.map_err(|e| domain::chain(&e))?;
            }
            // It helps whoever takes over; the lease is held without. Until central knows it is told each time.
            let known = match self.renewals.is_multiple_of(MAKE_KNOWN_EVERY) {
                true => self.ask_witness(standing, Wanted::Known).await.is_ok(),
                false => true,
            };
            self.renewals = self.renewals.wrapping_add(u32::from(known));
            return Ok("the standby gave the lease".into());
        };
        // A standby that fetches has what is done in this turn, as if it gave the lease. One that is away, and has seen the turn, is
        // left behind by a new one.
        let leaves_behind = self.leases.is_followed() && !self.pair.is_fetched_from(self.leases.lease());
        let wanted = match leaves_behind {
            true => Wanted::NewTurn,
            false => Wanted::Renewal,
        };
        // Known before central is asked: then whatever the other made with a disk it lost was before central's answer.
        let joins = self.pair.joins(standing);
        match self.ask_witness(standing, wanted).await {
            Ok(()) => {
                if let Some(id) = joins {
                    let vouched = self.pair.buffer.vouch_for(id).await;
                    vouched.map_err(|e| domain::chain(&e))?;
                }
                Ok("central gave the lease".into())
            }
            Err(central) => Err(format!(
                "the standby does not give the lease ({standby}), and neither does central ({central})"
            )),
        }
    }

    async fn ask_standby(&mut self, standing: &Standing) -> Result<(), String> {
        let just_started = || "this machine has just started".to_owned();
        let number = self.leases.ask(Giver::Standby).ok_or_else(just_started)?;
        let lease = self.leases.lease();
        let asked = async {
            let session = match &mut self.session {
                Some(session) => session,
                None => self.session.insert(self.pair.ask().await?),
            };
            session.promise(standing.history.rank(), lease).await
        };
        match timeout(LEASE_TIMEOUT, asked).await {
            Ok(Ok(Ok(lease))) if self.leases.granted(number, lease) => Ok(()),
            Ok(Ok(Ok(_))) => Err("its answer came too late".into()),
            Ok(Ok(Err(why))) => {
                self.leases.gave_up(number);
                Err(why)
            }
            Ok(Err(why)) => {
                self.leases.gave_up(number);
                self.session = None;
                Err(why)
            }
            Err(_) => {
                self.leases.gave_up(number);
                self.session = None;
                Err(format!("it did not answer within {} s", LEASE_TIMEOUT.as_secs()))
            }
        }
    }

    async fn ask_witness(&mut self, standing: &Standing, wanted: Wanted) -> Result<(), String> {
        let not_yet = || "it has promised not to ask".to_owned();
        // A person's word is as good: nobody else attempts anything.
        let holds = self.leases.held().is_some() || standing.sole;
        let number = self.leases.ask(Giver::Witness).ok_or_else(not_yet)?;
        let rank = standing.history.rank();
        let same = self.unanswered.filter(|(_, asked_in)| *asked_in == rank);
        let question = same.map_or_else(Uuid::new_v4, |(question, _)| question);
        let ask = LeaseAsk {
            question,
            node: self.pair.buffer.id(),
            rank,
            seen: standing.history.epochs().iter().map(Epoch::rank).collect(),
            lease: self.leases.lease(),
            holds,
            caught_up: (standing.role == Role::Active || standing.caught_up) && !standing.stale,
            wanted,
        };
        let answer = self.witness.ask(&ask).await;
        // What was given for a question whose answer was lost is given for it again.
        self.unanswered = answer.is_err().then_some((question, rank));
        self.pair.central_answers(answer.is_ok());
        let (rank, lease, stale) = match answer {
            Ok(LeaseAnswer::Granted { rank, lease, stale }) => (rank, lease, stale),
            Ok(LeaseAnswer::Known) => {
                self.leases.gave_up(number);
                return Ok(());
            }
            Ok(LeaseAnswer::Refused { why, left }) => {
                self.leases.gave_up(number);
                return Err(format!("{why}, for {} s at most", left.as_secs() + 1));
            }
            Err(why) => {
                self.leases.gave_up(number);
                return Err(why);
            }
        };
        if rank == standing.history.rank() {
            let in_time = self.leases.granted(number, lease);
            return in_time
                .then_some(())
                .ok_or_else(|| "its answer came too late".into());
        }
        // The turn is on the disk before anything is attempted in it. Whoever follows later is told of it, and sets this again.
        self.leases.set_followed(false);
        let taken = self.pair.buffer.take_turn(standing, rank, stale && !holds).await;
        if let Err(error) = taken {
            self.leases.gave_up(number);
            return Err(domain::chain(&error));
        }
        tracing::warn!(
            epoch = rank.0,
            stale,
            role = standing.role.as_str(),
            "central gave this machine a turn"
        );
        let in_time = self.leases.granted(number, lease);
        in_time
            .then_some(())
            .ok_or_else(|| "its answer came too late".into())
    }

    /// A standby leaves the active one alone while it hears of it, and for as long as it has promised.
    async fn watch_active(&mut self, standing: &Standing) -> Result<String, String> {
        if standing.history.last().is_none() {
            return Ok("there is nothing to take over".into());
        }
        if !self.pair.nobody_leads() {
            return Ok("the other machine is active".into());
        }
        let (quiet, promised) = self.leases.waits();
        let wait = quiet.max(promised).max(self.leases.handed_over());
        if !wait.is_zero() {
            return Ok(format!(
                "the other machine is not heard; central is asked in {} s",
                wait.as_secs() + 1
            ));
        }
        let pair = self.pair.clone();
        // Whatever is being fetched ends first.
        let Ok(_busy) = timeout(LEASE_TIMEOUT, pair.busy.lock()).await else {
            return Ok("the copy is being changed".into());
        };
        if pair.role() == Role::Active {
            return Ok("this machine is active".into());
        }
        let taken = self.ask_witness(&pair.standing(), Wanted::NewTurn).await;
        if pair.role() == Role::Active {
            metrics::counter!("waypost_site_takeovers_total").increment(1);
            let why = "the other machine was not heard, and central gave this one a turn";
            pair.log_takeover(why, None).await;
            pair.turn.send_replace(Some(Turn::Changed));
            return Ok("this machine takes over".into());
        }
        taken.map(|()| "nothing is taken over".into())
    }
}
