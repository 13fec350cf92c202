//! What a standby hands over to central itself, while its active machine cannot be reached. The link is the active machine's.

use super::{Frame, Options, caller::Caller, frames, too_large};
use crate::{
    message::{Ack, Forward},
    wire::v1::{self, link_client::LinkClient},
};
use secrecy::ExposeSecret;
use tonic::transport::Channel;

/// Central, for the notifications of a standby.
#[derive(Debug)]
pub struct StandbyClient(Caller);

impl StandbyClient {
    pub fn new(options: Options) -> Self {
        Self(Caller::new(options))
    }

    /// One answer per item, in order; what is `Accepted` or `Duplicate` is on central's disk. An error is why nothing is known about
    /// any of them: sending them again is harmless.
    pub async fn submit(&self, batch: Vec<Forward>) -> Result<Vec<Ack>, String> {
        let limit = self.0.options.pace.answer;
        let asked = self.0.ask(limit, async |mut central, is_new| {
            if is_new {
                // Who has not shown a key may say little: it is shown alone, and then it may say more.
                self.said(&mut central, vec![]).await?;
            }
            let mut acks = Vec::with_capacity(batch.len());
            for frame in frames(batch) {
                match frame {
                    Frame::TooLarge(bytes) => acks.push(too_large(bytes)),
                    Frame::Send(notifications) => acks.extend(self.said(&mut central, notifications).await?),
                }
            }
            Ok(acks)
        });
        asked.await
    }

    async fn said(
        &self,
        central: &mut LinkClient<Channel>,
        notifications: Vec<v1::Notification>,
    ) -> Result<Vec<Ack>, String> {
        let options = &self.0.options;
        let items = notifications.len();
        let asked = v1::SubmitFromStandby {
            site: options.site.to_string(),
            key: options.key.expose_secret().to_owned(),
            notifications,
        };
        let answer = central.submit_beside(asked).await;
        let v1::Acks { acks } = answer.map_err(|s| s.message().to_owned())?.into_inner();
        if acks.len() != items {
            return Err("central's answer to a batch does not fit it".into());
        }
        Ok(acks.into_iter().map(Ack::from).collect())
    }
}
