//! Hearing: LISTEN on a session of its own.

use super::{
    super::{
        failed::Failed,
        server::{Server, Use},
        sql,
    },
    payload::read,
};
use crate::{Result, signals::Signal};
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_postgres::AsyncMessage;
use tracing::warn;

/// Before the listening session is tried again.
const RECONNECT_WAIT: Duration = Duration::from_secs(1);

pub(super) struct Listener {
    pub(super) server: Server,
    pub(super) channel: String,
    pub(super) sender: String,
    pub(super) heard: broadcast::Sender<Signal>,
}

impl Listener {
    pub(super) async fn run(self) {
        let mut lost_before = false;
        loop {
            match self.listen(lost_before).await {
                Ok(()) => warn!("the listening session ended, reconnecting"),
                Err(error) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "cannot listen for other nodes, trying again"
                    );
                }
            }
            lost_before = true;
            tokio::time::sleep(RECONNECT_WAIT).await;
        }
    }

    /// Returns when the session ends.
    async fn listen(&self, lost_before: bool) -> Result<()> {
        let (client, mut connection) = self.server.connect(Use::Claim).await?;
        let listen = sql::listen(&self.channel);
        let mut subscribing = Some(Box::pin(client.batch_execute(&listen)));
        loop {
            let message = std::future::poll_fn(|cx| connection.poll_message(cx));
            tokio::select! {
                result = async { subscribing.as_mut().expect("checked").await }, if subscribing.is_some() => {
                    subscribing = None;
                    result.map_err(|e| crate::Error::from(Failed::from(e)))?;
                    if lost_before {
                        let _ = self.heard.send(Signal::ListensAgain);
                    }
                }
                message = message => match message {
                    Some(Ok(AsyncMessage::Notification(note))) => self.hear(note.payload()),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Err(Failed::from(error).into()),
                    None => return Ok(()),
                },
            }
        }
    }

    fn hear(&self, payload: &str) {
        if let Some(signal) = read(&self.sender, payload) {
            // Nobody listening is fine.
            let _ = self.heard.send(signal);
        }
    }
}
