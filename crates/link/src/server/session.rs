//! One admitted site, from welcome to end.

use super::{GRACE, Refusal, RemoteSite, SiteSession, WINDOW};
use crate::{
    calls::site_asked,
    message::{Ack, Forward},
    wire::v1::{self, from_central::What as CentralSays, from_site::What as SiteSays},
};
use domain::{NotificationId, site::Telemetry};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::Streaming;
use uuid::Uuid;

/// How long the last word may take when nobody listens any more.
const GOODBYE: Duration = Duration::from_secs(1);

/// Notifications, or pieces of news, in one frame. A site sends far fewer.
pub(super) const MOST_AT_ONCE: usize = 10_000;
pub(super) const TOO_MANY: &str = "there are more than 10000 in one frame";

pub(super) async fn run(
    inbound: Streaming<v1::FromSite>,
    remote: RemoteSite,
    session: Arc<dyn SiteSession>,
    stop: CancellationToken,
) {
    let work = TaskTracker::new();
    let why = listen(inbound, &remote, &session, &stop, &work).await;
    // What was taken is answered before the door closes, if somebody still listens.
    work.close();
    timeout(GRACE, work.wait()).await.ok();
    let goodbye = CentralSays::Goodbye(v1::Goodbye { reason: why.clone() });
    timeout(GOODBYE, remote.say(0, goodbye)).await.ok();
    remote.close(&why);
    session.left(&why).await;
}

/// Takes what the site says until there is a reason not to, and answers with that reason.
async fn listen(
    mut inbound: Streaming<v1::FromSite>,
    remote: &RemoteSite,
    session: &Arc<dyn SiteSession>,
    stop: &CancellationToken,
    work: &TaskTracker,
) -> String {
    let room = Arc::new(Semaphore::new(WINDOW));
    let mut database = session.database();
    database.mark_unchanged();
    loop {
        let heard = tokio::select! {
            biased;
            () = stop.cancelled() => return "central is stopping".into(),
            () = remote.dismissed().cancelled() => return remote.why(),
            Ok(()) = database.changed() => {
                let now = database.borrow_and_update().clone();
                remote.say(0, CentralSays::Database(now.into())).await;
                continue;
            }
            heard = inbound.message() => heard,
        };
        let v1::FromSite { call, what } = match heard {
            Ok(Some(frame)) => frame,
            Ok(None) => return "the site closed the link".into(),
            Err(status) => return format!("the link broke: {}", status.message()),
        };
        match what {
            Some(SiteSays::Report(report)) if call == 0 => session.reported(report.into()),
            question if site_asked(call) => {
                // No room: the rest waits on the wire, which slows this site down and nobody else.
                let permit = tokio::select! {
                    biased;
                    () = stop.cancelled() => return "central is stopping".into(),
                    () = remote.dismissed().cancelled() => return remote.why(),
                    Ok(permit) = room.clone().acquire_owned() => permit,
                };
                work.spawn(answer(remote.clone(), session.clone(), call, question, permit));
            }
            Some(answer) => remote.answered(call, answer),
            // News from a newer site.
            None => {}
        }
    }
}

async fn answer(
    remote: RemoteSite,
    session: Arc<dyn SiteSession>,
    call: u64,
    question: Option<SiteSays>,
    _room: OwnedSemaphorePermit,
) {
    let answer = reply(&*session, question).await;
    remote.say(call, answer).await;
}

async fn reply(session: &dyn SiteSession, question: Option<SiteSays>) -> CentralSays {
    match question {
        Some(question) if items(&question) > MOST_AT_ONCE => failed(TOO_MANY),
        Some(SiteSays::Submit(v1::Submit { notifications })) => {
            let acks = submitted(notifications, async |batch| Ok(session.submit(batch).await));
            match acks.await {
                Ok(acks) => CentralSays::Acks(acks),
                Err(refusal) => failed(refusal.to_string()),
            }
        }
        Some(SiteSays::Telemetry(v1::Telemetry { news })) => CentralSays::Heard(v1::Heard {
            heard: telemetry(session, news).await,
        }),
        Some(SiteSays::AskStatus(v1::AskStatus { id })) => match Uuid::from_slice(&id) {
            Err(_) => failed("the id is not one"),
            Ok(id) => match session.status(NotificationId(id)).await {
                Ok(status) => CentralSays::Standing(status.into()),
                Err(why) => failed(why),
            },
        },
        _ => CentralSays::Unknown(v1::Unknown {}),
    }
}

/// How many notifications or pieces of news a frame holds.
fn items(question: &SiteSays) -> usize {
    match question {
        SiteSays::Submit(v1::Submit { notifications }) => notifications.len(),
        SiteSays::Telemetry(v1::Telemetry { news }) => news.len(),
        _ => 0,
    }
}

/// What cannot be read is refused alone; the rest goes on to `store`, also where nothing is left.
pub(super) async fn submitted(
    notifications: Vec<v1::Notification>,
    store: impl AsyncFnOnce(Vec<Forward>) -> Result<Vec<Ack>, Refusal>,
) -> Result<v1::Acks, Refusal> {
    let mut answers = Vec::with_capacity(notifications.len());
    let mut readable = Vec::with_capacity(notifications.len());
    for notification in notifications {
        match Forward::try_from(notification) {
            Ok(forward) => {
                readable.push(forward);
                answers.push(None);
            }
            Err(why) => answers.push(Some(Ack::Refused(why))),
        }
    }
    let mut stored = store(readable).await?.into_iter();
    let unanswered = || Ack::NotNow("central gave no answer".into());
    let filled = answers
        .into_iter()
        .map(|a| a.or_else(|| stored.next()).unwrap_or_else(unanswered));
    Ok(v1::Acks {
        acks: filled.map(Into::into).collect(),
    })
}

/// News that cannot be read would be told for ever: it is logged and taken as heard.
async fn telemetry(session: &dyn SiteSession, news: Vec<v1::OperationNews>) -> Vec<bool> {
    let mut heard = Vec::with_capacity(news.len());
    let mut readable = Vec::with_capacity(news.len());
    for piece in news {
        match Telemetry::try_from(piece) {
            Ok(telemetry) => {
                readable.push(telemetry);
                heard.push(None);
            }
            Err(why) => {
                tracing::warn!(reason = %why, "telemetry of a site cannot be read and is dropped");
                heard.push(Some(true));
            }
        }
    }
    let mut kept = session.telemetry(readable).await.into_iter();
    heard
        .into_iter()
        .map(|h| h.or_else(|| kept.next()).unwrap_or(false))
        .collect()
}

fn failed(why: impl Into<String>) -> CentralSays {
    CentralSays::Failed(v1::Failed {
        reason: why.into(),
        turn: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RemoteStatus, SiteReport};
    use domain::site::DatabaseIdentity;
    use tokio::sync::watch;

    /// Central's side, which is never asked.
    struct Unasked;

    #[tonic::async_trait]
    impl SiteSession for Unasked {
        fn database(&self) -> watch::Receiver<DatabaseIdentity> {
            unreachable!("not asked")
        }

        async fn submit(&self, batch: Vec<Forward>) -> Vec<Ack> {
            unreachable!("asked to store {}", batch.len())
        }

        async fn status(&self, _: NotificationId) -> Result<Option<RemoteStatus>, String> {
            unreachable!("not asked")
        }

        async fn telemetry(&self, batch: Vec<Telemetry>) -> Vec<bool> {
            unreachable!("asked to hear {}", batch.len())
        }

        fn reported(&self, _: SiteReport) {}

        async fn left(&self, _: &str) {}
    }

    #[tokio::test]
    async fn a_frame_with_more_than_a_site_ever_sends_is_refused_before_it_is_read() {
        let notifications = vec![v1::Notification::default(); MOST_AT_ONCE + 1];
        let submit = SiteSays::Submit(v1::Submit { notifications });
        let news = vec![v1::OperationNews::default(); MOST_AT_ONCE + 1];
        let telemetry = SiteSays::Telemetry(v1::Telemetry { news });
        for question in [submit, telemetry] {
            assert_eq!(reply(&Unasked, Some(question)).await, failed(TOO_MANY));
        }
    }
}
