//! Asking central for the lease of a pair: a connection of its own, so that nothing else is in its way, and two seconds.

use super::{Options, connect};
use crate::{
    lease::{answer_in, ask_out},
    wire::v1::link_client,
};
use domain::pair::{LeaseAnswer, LeaseAsk, lease::LEASE_TIMEOUT};
use secrecy::ExposeSecret;
use tokio::{sync::Mutex, time::timeout};
use tonic::transport::Channel;

/// Central as the witness of a pair.
pub struct WitnessClient {
    options: Options,
    /// The connection of the last answer, and which address it is to.
    open: Mutex<(usize, Option<Channel>)>,
}

impl std::fmt::Debug for WitnessClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WitnessClient({})", self.options.site)
    }
}

impl WitnessClient {
    pub fn new(options: Options) -> Self {
        Self {
            options,
            open: Mutex::default(),
        }
    }

    /// Central's answer, or why there is none. The next question goes to the next address then.
    pub async fn ask(&self, ask: &LeaseAsk) -> Result<LeaseAnswer, String> {
        let mut open = self.open.lock().await;
        let (turn, channel) = &mut *open;
        if self.options.central.is_empty() {
            return Err("no central is configured".into());
        }
        let address = &self.options.central[*turn % self.options.central.len()];
        let asked = async {
            let channel = match channel {
                Some(channel) => channel,
                None => channel.insert(connect::channel(&self.options, address).await?.0),
            };
            let mut client = link_client::LinkClient::new(channel.clone());
            let (site, key) = (self.options.site.as_str(), self.options.key.expose_secret());
            let answer = client.lease(ask_out(site, key, ask)).await;
            answer_in(answer.map_err(|s| s.message().to_owned())?.into_inner())
        };
        let answer = match timeout(LEASE_TIMEOUT, asked).await {
            Ok(answer) => answer.map_err(|why| format!("{address}: {why}")),
            Err(_) => Err(format!(
                "{address} did not answer within {} s",
                LEASE_TIMEOUT.as_secs()
            )),
        };
        if answer.is_err() {
            (*turn, *channel) = (turn.wrapping_add(1), None);
        }
        answer
    }
}
