//! A connected site, as central asks it.

use crate::{
    bulk::{BulkDone, BulkStep, ParkedCount, ParkedFilter},
    calls::Calls,
    lease::rank_in,
    message::{ParkedActed, ParkedAnswer, ParkedPage, SiteReport},
    waiting::{TRY_ANSWER_WITHIN, WaitingActed, WaitingAnswer, WaitingPage},
    wire::v1::{self, act::Action, from_central::What as Question, from_site::What as Answer},
};
use domain::{lock::lock, pair::Rank, submission::limit};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

/// How long a site may take to answer a person who waits at central.
const ASK_TIMEOUT: Duration = Duration::from_secs(10);
const _: () = assert!(TRY_ANSWER_WITHIN.as_secs() < ASK_TIMEOUT.as_secs());

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelayFailed {
    /// The link ended before the answer came; whether the site acted is not known.
    #[error("the site went offline before it answered: {0}")]
    Gone(String),
    #[error("the site did not answer within {} s", ASK_TIMEOUT.as_secs())]
    TooSlow,
    /// The site could not, and why.
    #[error("the site could not: {0}")]
    Failed(String),
}

/// The way to one connected site. Clones lead to the same one.
#[derive(Debug, Clone)]
pub struct RemoteSite(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    out: Mutex<Option<mpsc::Sender<v1::FromCentral>>>,
    calls: Calls<Answer>,
    ended: CancellationToken,
    why: Mutex<Option<String>>,
    /// Of a machine of a pair: the turn it is active in, as far as it has said.
    turn: Mutex<Option<Rank>>,
}

impl RemoteSite {
    pub(super) fn new(out: mpsc::Sender<v1::FromCentral>) -> Self {
        Self(Arc::new(Inner {
            out: Mutex::new(Some(out)),
            calls: Calls::of_central(),
            ended: CancellationToken::new(),
            why: Mutex::default(),
            turn: Mutex::default(),
        }))
    }

    /// The turn in which it is active, of a machine of a pair; questions are meant for that.
    pub fn turn(&self) -> Option<Rank> {
        *lock(&self.0.turn)
    }

    pub(super) fn is_in(&self, turn: Option<Rank>) {
        *lock(&self.0.turn) = turn;
    }

    pub async fn parked(&self, page: ParkedPage) -> Result<ParkedAnswer, RelayFailed> {
        match self.ask(Question::AskParked(page.into())).await? {
            Answer::Parked(parked) => parked.try_into().map_err(RelayFailed::Failed),
            _ => Err(nonsense()),
        }
    }

    pub async fn retry(&self, id: &str, by: &str) -> Result<ParkedActed, RelayFailed> {
        let acted = self.act(Action::Retry, id, by).await?;
        acted.try_into().map_err(RelayFailed::Failed)
    }

    pub async fn discard(&self, id: &str, by: &str) -> Result<ParkedActed, RelayFailed> {
        let acted = self.act(Action::Discard, id, by).await?;
        acted.try_into().map_err(RelayFailed::Failed)
    }

    pub async fn waiting(&self, page: WaitingPage) -> Result<WaitingAnswer, RelayFailed> {
        match self.ask(Question::AskWaiting(page.into())).await? {
            Answer::Waiting(waiting) => waiting.try_into().map_err(RelayFailed::Failed),
            _ => Err(nonsense()),
        }
    }

    pub async fn try_waiting(&self, id: &str, by: &str) -> Result<WaitingActed, RelayFailed> {
        let acted = self.act(Action::TryWaiting, id, by).await?;
        acted.try_into().map_err(RelayFailed::Failed)
    }

    pub async fn discard_waiting(&self, id: &str, by: &str) -> Result<WaitingActed, RelayFailed> {
        let acted = self.act(Action::DiscardWaiting, id, by).await?;
        acted.try_into().map_err(RelayFailed::Failed)
    }

    pub async fn count_parked(&self, filter: ParkedFilter) -> Result<ParkedCount, RelayFailed> {
        let filter = Some(filter.into());
        match self.ask(Question::Count(v1::Count { filter })).await? {
            Answer::Counted(v1::Counted { total, until }) => Ok(ParkedCount { total, until }),
            _ => Err(nonsense()),
        }
    }

    pub async fn act_on_many(&self, step: BulkStep) -> Result<BulkDone, RelayFailed> {
        match self.ask(Question::ActOnMany(step.into())).await? {
            Answer::ActedOnMany(v1::ActedOnMany { done, next }) => Ok(BulkDone { done, next }),
            _ => Err(nonsense()),
        }
    }

    pub async fn report(&self) -> Result<SiteReport, RelayFailed> {
        match self.ask(Question::AskReport(v1::AskReport {})).await? {
            Answer::Report(report) => Ok(report.into()),
            _ => Err(nonsense()),
        }
    }

    /// Ends the session, and tells the site why.
    pub fn dismiss(&self, why: impl Into<String>) {
        lock(&self.0.why).get_or_insert_with(|| why.into());
        self.0.ended.cancel();
    }

    pub fn is_over(&self) -> bool {
        self.0.ended.is_cancelled()
    }

    pub(super) fn dismissed(&self) -> &CancellationToken {
        &self.0.ended
    }

    /// Why it is over, or soon will be.
    pub fn why(&self) -> String {
        let why = lock(&self.0.why).clone();
        why.unwrap_or_else(|| "the link broke".into())
    }

    /// Lets go of the stream: whoever waits for an answer is told, and the site sees the end.
    pub(super) fn close(&self, why: &str) {
        self.dismiss(why);
        self.0.calls.close();
        lock(&self.0.out).take();
    }

    pub(super) fn answered(&self, call: u64, answer: Answer) {
        self.0.calls.answer(call, answer);
    }

    /// False when the link is over.
    pub(super) async fn say(&self, call: u64, what: Question) -> bool {
        let out = lock(&self.0.out).clone();
        let Some(out) = out else { return false };
        let frame = v1::FromCentral {
            call,
            holder: self.meant(&what),
            what: Some(what),
        };
        out.send(frame).await.is_ok()
    }

    /// For the holder of which turn this is; none of what may be asked of, or told to, either machine.
    fn meant(&self, what: &Question) -> Option<v1::Turn> {
        match what {
            Question::AskParked(_)
            | Question::AskWaiting(_)
            | Question::Act(_)
            | Question::Count(_)
            | Question::ActOnMany(_) => self.turn().map(Into::into),
            _ => None,
        }
    }

    async fn act(&self, action: Action, id: &str, by: &str) -> Result<v1::Acted, RelayFailed> {
        let act = v1::Act {
            action: action.into(),
            id: id.into(),
            by: by.into(),
        };
        match self.ask(Question::Act(act)).await? {
            Answer::Acted(acted) => Ok(acted),
            _ => Err(nonsense()),
        }
    }

    async fn ask(&self, question: Question) -> Result<Answer, RelayFailed> {
        let asked = async {
            let call = self.0.calls.start()?;
            self.say(call.number, question).await.then_some(())?;
            call.wait().await
        };
        match timeout(ASK_TIMEOUT, asked).await {
            Err(_) => Err(RelayFailed::TooSlow),
            Ok(None) => Err(RelayFailed::Gone(self.why())),
            Ok(Some(Answer::Failed(v1::Failed { mut reason, turn }))) => {
                if let Some(Ok(turn)) = turn.map(|turn| rank_in(Some(turn))) {
                    // It has begun another turn since it connected.
                    self.is_in(Some(turn));
                }
                if let Some((end, _)) = reason.char_indices().nth(limit::ERROR) {
                    reason.truncate(end);
                }
                Err(RelayFailed::Failed(reason))
            }
            Ok(Some(Answer::Unknown(_))) => Err(RelayFailed::Failed("its agent is too old for that".into())),
            Ok(Some(answer)) => Ok(answer),
        }
    }
}

fn nonsense() -> RelayFailed {
    RelayFailed::Failed("its answer does not fit the question".into())
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up fails where it stands"
)]
mod tests {
    use super::*;
    use prost::Message;

    /// A frame as a site reads it that knows nothing of waiting messages.
    #[derive(Clone, PartialEq, Message)]
    struct OlderFrame {
        #[prost(uint64, tag = "1")]
        call: u64,
        #[prost(message, optional, tag = "10")]
        ask_parked: Option<v1::AskParked>,
        #[prost(message, optional, tag = "11")]
        act: Option<v1::Act>,
    }

    /// The last action that such a site knows.
    const LAST_KNOWN: i32 = Action::Discard as i32;

    #[tokio::test]
    async fn a_site_that_knows_nothing_of_waiting_messages_takes_the_questions_for_nothing_else_and_is_told_apart()
     {
        let (out, mut sent) = mpsc::channel(8);
        let remote = RemoteSite::new(out);
        let older = async {
            let mut frames = vec![];
            for _ in 0..3 {
                let frame = sent.recv().await.unwrap();
                let read = OlderFrame::decode(frame.encode_to_vec().as_slice()).unwrap();
                remote.answered(read.call, Answer::Unknown(v1::Unknown {}));
                frames.push(read);
            }
            frames
        };
        let page = WaitingPage {
            limit: 10,
            ..WaitingPage::default()
        };
        let asking = async {
            let page = remote.waiting(page).await.unwrap_err();
            let tried = remote.try_waiting("w1", "user:anna").await.unwrap_err();
            let discarded = remote.discard_waiting("w1", "user:anna").await.unwrap_err();
            [page, tried, discarded]
        };
        let (answers, frames) = tokio::join!(asking, older);
        for answer in answers {
            assert_eq!(
                answer,
                RelayFailed::Failed("its agent is too old for that".into())
            );
        }
        assert!(
            frames.iter().all(|frame| frame.ask_parked.is_none()),
            "{frames:?}"
        );
        let acts: Vec<_> = frames.iter().filter_map(|frame| frame.act.as_ref()).collect();
        assert!(
            acts.len() == 2 && acts.iter().all(|act| act.action > LAST_KNOWN),
            "{acts:?}"
        );
    }
}
