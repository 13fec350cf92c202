//! One question at a time to central, on a connection of its own: beside the link, so that nothing else is in its way.

use super::{Options, connect};
use crate::wire::v1::link_client::LinkClient;
use std::{fmt, time::Duration};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout_at},
};
use tonic::transport::Channel;

/// Whoever asks.
pub(super) struct Caller {
    pub options: Options,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// Which address is asked.
    turn: usize,
    /// The connection of the last answer.
    channel: Option<Channel>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Caller({})", self.options.site)
    }
}

impl Caller {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            open: Mutex::default(),
        }
    }

    /// Central's answer, or why there is none within `limit`. The next question goes to the next address then. `question` is told whether
    /// the connection is a new one.
    pub async fn ask<T>(
        &self,
        limit: Duration,
        question: impl AsyncFnOnce(LinkClient<Channel>, bool) -> Result<T, String>,
    ) -> Result<T, String> {
        let until = Instant::now() + limit;
        if self.options.central.is_empty() {
            return Err("no central is configured".into());
        }
        // Within the limit as well: whoever asks is told in time, however many wait before it.
        let Ok(mut open) = timeout_at(until, self.open.lock()).await else {
            return Err(format!(
                "earlier questions took longer than {} s",
                limit.as_secs()
            ));
        };
        let Open { turn, channel } = &mut *open;
        let address = &self.options.central[*turn % self.options.central.len()];
        let asked = async {
            let is_new = channel.is_none();
            let channel = match channel {
                Some(channel) => channel,
                None => channel.insert(connect::channel(&self.options, address).await?.0),
            };
            question(LinkClient::new(channel.clone()), is_new).await
        };
        let answer = match timeout_at(until, asked).await {
            Ok(answer) => answer.map_err(|why| format!("{address}: {why}")),
            Err(_) => Err(format!("{address} did not answer within {} s", limit.as_secs())),
        };
        if answer.is_err() {
            (*turn, *channel) = (turn.wrapping_add(1), None);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::SiteId;
    use secrecy::SecretString;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_question_behind_one_that_hangs_is_given_up_within_its_own_limit() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let options = Options::new(
            SiteId::new("north"),
            SecretString::from("key"),
            vec![address.parse().unwrap()],
        );
        let caller = Arc::new(Caller::new(options));
        let first = caller.clone();
        let hangs = tokio::spawn(async move {
            let hour = Duration::from_secs(3600);
            let never = async |_: LinkClient<Channel>, _: bool| std::future::pending().await;
            first.ask::<()>(hour, never).await
        });
        testkit::until("the first question to be under way", async || {
            caller.open.try_lock().is_err()
        })
        .await;
        let asked = caller.ask(Duration::from_millis(50), async |_, _| Ok(()));
        let answered = tokio::time::timeout(Duration::from_secs(30), asked).await;
        let why = answered.expect("it is given up").unwrap_err();
        assert!(why.contains("earlier questions"), "{why}");
        hangs.abort();
    }
}
