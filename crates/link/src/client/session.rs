//! One connection of a site to central, from welcome to end: questions out, answers back.

use crate::{
    calls::Calls,
    message::{Ack, RemoteStatus},
    wire::v1::{self, from_central::What as Answer, from_site::What as Question},
};
use domain::{NotificationId, lock::lock};
use std::{sync::Mutex, time::Duration};
use tokio::{
    sync::{Semaphore, mpsc},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(super) struct Session {
    out: mpsc::Sender<v1::FromSite>,
    calls: Calls<Answer>,
    /// Unanswered questions that central takes at once.
    room: Semaphore,
    patience: Duration,
    ended: CancellationToken,
    why: Mutex<Option<String>>,
}

impl Session {
    pub fn new(out: mpsc::Sender<v1::FromSite>, window: usize, patience: Duration) -> Self {
        Self {
            out,
            calls: Calls::of_site(),
            room: Semaphore::new(window.max(1)),
            patience,
            ended: CancellationToken::new(),
            why: Mutex::default(),
        }
    }

    /// Ends the connection; the first reason counts.
    pub fn end(&self, why: impl Into<String>) {
        lock(&self.why).get_or_insert_with(|| why.into());
        self.calls.close();
        self.room.close();
        self.ended.cancel();
    }

    pub fn why_ended(&self) -> String {
        let why = lock(&self.why).clone();
        why.unwrap_or_else(|| "the link broke".into())
    }

    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// An answer came in.
    pub fn answered(&self, call: u64, answer: Answer) {
        self.calls.answer(call, answer);
    }

    /// Says something that is not a question, unless the link is over.
    pub async fn say(&self, call: u64, what: Question) {
        let frame = v1::FromSite {
            call,
            what: Some(what),
        };
        tokio::select! {
            () = self.ended.cancelled() => {}
            _ = self.out.send(frame) => {}
        }
    }

    async fn ask(&self, question: Question) -> Result<Answer, String> {
        let asked = async {
            let _room = self.room.acquire().await.ok()?;
            let call = self.calls.start()?;
            let frame = v1::FromSite {
                call: call.number,
                what: Some(question),
            };
            // Only now: waiting for one's turn is not central's fault.
            let answer = timeout(self.patience, async {
                self.out.send(frame).await.ok()?;
                call.wait().await
            });
            match answer.await {
                Ok(answer) => answer,
                Err(_) => {
                    self.end(format!(
                        "central did not answer within {} s",
                        self.patience.as_secs()
                    ));
                    None
                }
            }
        };
        match asked.await {
            Some(Answer::Failed(v1::Failed { reason, .. })) => Err(reason),
            Some(Answer::Unknown(_)) => Err("this central is too old to answer that".into()),
            Some(answer) => Ok(answer),
            None => Err(self.why_ended()),
        }
    }

    /// One answer per notification, or how many there were and why nothing is known about them.
    pub async fn submit(&self, notifications: Vec<v1::Notification>) -> Result<Vec<Ack>, (usize, String)> {
        let items = notifications.len();
        let answer = self.ask(Question::Submit(v1::Submit { notifications })).await;
        match answer {
            Ok(Answer::Acks(v1::Acks { acks })) if acks.len() == items => {
                Ok(acks.into_iter().map(Ack::from).collect())
            }
            Ok(_) => Err((items, self.nonsense("a batch"))),
            Err(why) => Err((items, why)),
        }
    }

    pub async fn status(&self, id: NotificationId) -> Result<Option<RemoteStatus>, String> {
        let id = id.0.as_bytes().to_vec();
        match self.ask(Question::AskStatus(v1::AskStatus { id })).await? {
            Answer::Standing(standing) => standing.try_into(),
            _ => Err(self.nonsense("a question")),
        }
    }

    pub async fn telemetry(&self, news: Vec<v1::OperationNews>) -> Result<Vec<bool>, String> {
        let items = news.len();
        match self.ask(Question::Telemetry(v1::Telemetry { news })).await? {
            Answer::Heard(v1::Heard { heard }) if heard.len() == items => Ok(heard),
            _ => Err(self.nonsense("telemetry")),
        }
    }

    /// An answer that does not fit its question: nothing on this connection can be believed any more.
    fn nonsense(&self, to: &str) -> String {
        let why = format!("central's answer to {to} does not fit it");
        self.end(why.clone());
        why
    }
}
