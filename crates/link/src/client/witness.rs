//! Asking central for the lease of a pair: two seconds, whatever else is under way.

use super::{Options, caller::Caller};
use crate::lease::{answer_in, ask_out};
use domain::pair::{LeaseAnswer, LeaseAsk, lease::LEASE_TIMEOUT};
use secrecy::ExposeSecret;

/// Central as the witness of a pair.
#[derive(Debug)]
pub struct WitnessClient(Caller);

impl WitnessClient {
    pub fn new(options: Options) -> Self {
        Self(Caller::new(options))
    }

    /// Central's answer, or why there is none.
    pub async fn ask(&self, ask: &LeaseAsk) -> Result<LeaseAnswer, String> {
        let options = &self.0.options;
        let ask = ask_out(options.site.as_str(), options.key.expose_secret(), ask);
        let asked = self.0.ask(LEASE_TIMEOUT, async |mut central, _| {
            let answer = central.lease(ask).await;
            answer_in(answer.map_err(|s| s.message().to_owned())?.into_inner())
        });
        asked.await
    }
}
