//! A provider's place for callbacks: a secret address that its far end sends receipts to.

use super::ProviderService;
use crate::{keys, secrets::Place};
use delivery::receipt::ReceiptsBy;
use domain::{Actor, ProviderId, TenantId};
use store::receipts::ProviderCallback;

/// The name under which the secret is sealed, beside those of the settings.
pub(crate) const CALLBACK_SECRET: &str = "callback";

/// An address that was just made. It is not shown again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCallback {
    pub url: String,
    /// Who has to be given it.
    pub told_by: ReceiptsBy,
}

#[derive(Debug, thiserror::Error)]
pub enum CallbackProblem {
    #[error("there is no such provider")]
    NotFound,
    #[error("a provider of kind {0} tells nothing later")]
    NoReceipts(String),
    #[error("server.public_url is not set, so nobody outside could be told where to send receipts")]
    NoPublicUrl,
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl ProviderService {
    /// Makes a new address of 128 random bits; the one before stops working at once. Audited.
    pub async fn new_callback(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        actor: &Actor,
    ) -> Result<NewCallback, CallbackProblem> {
        let provider = self.store.provider(tenant, id).await?;
        let provider = provider.ok_or(CallbackProblem::NotFound)?.provider;
        let kind = self.directory.registry().get(&provider.kind);
        let told_by = kind.map_or(ReceiptsBy::Nothing, |kind| kind.receipts_by());
        if told_by == ReceiptsBy::Nothing {
            return Err(CallbackProblem::NoReceipts(provider.kind));
        }
        let secret = format!("{:032x}", rand::random::<u128>());
        let url = self.directory.callback_url(id, &secret);
        let url = url.ok_or(CallbackProblem::NoPublicUrl)?;
        let place = Place {
            tenant,
            provider: id,
            setting: CALLBACK_SECRET,
        };
        // Only who has to write it into each message needs it again.
        let sealed =
            (told_by == ReceiptsBy::EachMessage).then(|| self.directory.sealer().seal(place, &secret));
        let callback = ProviderCallback {
            hash: keys::hash(&secret),
            sealed,
        };
        if !self.store.put_callback(tenant, id, callback, Some(actor)).await? {
            return Err(CallbackProblem::NotFound);
        }
        self.changed().await?;
        Ok(NewCallback { url, told_by })
    }

    /// Seals the secrets of callbacks with the current key again. Answers (resealed, could not be opened).
    pub(super) async fn reseal_callbacks(&self) -> store::Result<(u64, Vec<String>)> {
        let (mut resealed, mut closed) = (0, vec![]);
        for stored in self.store.all_providers().await? {
            let Some(callback) = stored.callback else { continue };
            let (tenant, id) = (stored.provider.tenant, &stored.provider.id);
            let sealer = self.directory.sealer();
            let outdated = callback
                .sealed
                .as_ref()
                .filter(|sealed| sealer.is_outdated(sealed));
            let Some(outdated) = outdated else { continue };
            let place = Place {
                tenant,
                provider: id,
                setting: CALLBACK_SECRET,
            };
            match sealer.open(place, outdated) {
                Ok(plain) => {
                    let fresh = ProviderCallback {
                        hash: callback.hash,
                        sealed: Some(sealer.seal(place, &plain)),
                    };
                    resealed += u64::from(self.store.put_callback(tenant, id, fresh, None).await?);
                }
                Err(why) => closed.push(format!("{id}: {CALLBACK_SECRET}: {why}")),
            }
        }
        Ok((resealed, closed))
    }
}
