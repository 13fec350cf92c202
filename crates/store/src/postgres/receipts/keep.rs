//! Writing receipts down as they come in: providers call with one at a time, from many connections. Whoever comes while others
//! are being written waits for them and a moment longer, and all who have come by then are one commit.
//!
//! Always true: who is told "kept" has it on disk; one receipt that cannot be written keeps no other from it.

use super::sql;
use crate::{
    Result,
    postgres::{
        audit::without_nul,
        closed,
        failed::Failed,
        session::{Db, Session},
    },
    receipts::ReceiptsFrom,
};
use domain::{Receipt, lock::lock};
use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};
use uuid::Uuid;

/// Receipts in one statement, about.
const BATCH: usize = 1_000;
/// After a commit the next one waits so long: whoever was just answered calls again at once, and commits take what is being sent
/// its time at the server.
const GATHERED_FOR: Duration = Duration::from_millis(2);

/// What came in and is not written down yet.
#[derive(Debug, Clone)]
pub(in crate::postgres) struct Inbox {
    db: Db,
    waiting: Arc<Mutex<Vec<Request>>>,
    /// Whoever has it writes for all who wait; when that was done last.
    pen: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

#[derive(Debug)]
struct Request {
    from: ReceiptsFrom,
    receipts: Vec<Receipt>,
    kept: oneshot::Sender<Result<()>>,
}

impl Request {
    fn answer(self, done: Result<(), Failed>) {
        let _ = self.kept.send(done.map_err(Failed::while_committing));
    }
}

impl Inbox {
    pub fn of(db: &Db) -> Self {
        Self {
            db: db.clone(),
            waiting: Arc::default(),
            pen: Arc::default(),
        }
    }

    pub(super) async fn keep(&self, from: ReceiptsFrom, receipts: Vec<Receipt>) -> Result<()> {
        let (kept, answer) = oneshot::channel();
        lock(&self.waiting).push(Request { from, receipts, kept });
        // To its end, also when this caller is gone in between: others may be among those it writes for.
        tokio::spawn(self.clone().write());
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    async fn write(self) {
        let mut written_at = self.pen.lock().await;
        if lock(&self.waiting).is_empty() {
            return;
        }
        if let Some(at) = *written_at {
            sleep_until(at + GATHERED_FOR).await;
        }
        let requests = self.next();
        let together = insert(&self.db, &requests).await;
        *written_at = Some(Instant::now());
        if let (Err(_), true) = (&together, requests.len() > 1) {
            for request in requests {
                let alone = insert(&self.db, std::slice::from_ref(&request)).await;
                request.answer(alone);
            }
            return;
        }
        let mut failed = together.err();
        for request in requests {
            request.answer(failed.take().map_or(Ok(()), Err));
        }
    }

    /// Those who have waited longest. Each of the others has a turn of its own after this one.
    fn next(&self) -> Vec<Request> {
        let mut waiting = lock(&self.waiting);
        let mut receipts = 0;
        let fits = waiting.iter().take_while(|request| {
            let first = receipts == 0;
            receipts += request.receipts.len();
            first || receipts <= BATCH
        });
        let n = fits.count();
        waiting.drain(..n).collect()
    }
}

async fn insert(db: &Db, requests: &[Request]) -> Result<(), Failed> {
    type Text<'a> = Vec<Option<Cow<'a, str>>>;
    fn text(value: Option<&String>) -> Option<Cow<'_, str>> {
        value.map(|text| without_nul(text))
    }
    let all = || requests.iter().flat_map(|request| &request.receipts);
    let from = || {
        let of_each = |request: &Request| (request.from.clone(), request.receipts.len());
        requests
            .iter()
            .map(of_each)
            .flat_map(|(from, n)| std::iter::repeat_n(from, n))
    };
    let of = |pick: fn(&Receipt) -> Option<&String>| -> Text<'_> {
        all().map(|receipt| text(pick(receipt))).collect()
    };
    let about = || all().map(|receipt| receipt.correlation.as_ref());
    let tenant: Vec<i32> = from().map(|from| from.tenant.0).collect();
    let lane: Vec<i64> = from().map(|from| from.lane.0).collect();
    let unproven: Vec<bool> = all().map(|receipt| receipt.unproven).collect();
    let state: Vec<&str> = all().map(|receipt| receipt.state.as_str()).collect();
    let notification: Vec<Option<Uuid>> = about().map(|about| Some(about?.id.0)).collect();
    let generation: Vec<Option<i32>> = about().map(|about| Some(about?.generation)).collect();
    let address: Text<'_> = about().map(|about| text(about?.recipient.as_ref())).collect();
    let hold: Vec<Option<&str>> = all().map(|receipt| Some(receipt.hold?.as_str())).collect();
    let session = db.general().await?;
    session
        .exec(
            sql::receipt_keep,
            &[
                &db.now(),
                &tenant,
                &lane,
                &unproven,
                &state,
                &notification,
                &generation,
                &address,
                &of(|r| r.provider_message_id.as_ref()),
                &of(|r| r.recipient.as_ref()),
                &of(|r| r.code.as_ref()),
                &of(|r| r.provider_code.as_ref()),
                &of(|r| r.detail.as_ref()),
                &hold,
            ],
        )
        .await?;
    Ok(())
}
