//! Sealing what is stored already: secrets of an earlier version, and those of a key that is on its way out.

use super::{ProviderService, secrets::Owner};
use crate::secrets::Place;
use domain::ProviderId;
use std::collections::BTreeMap;
use store::directory::NewProvider;

impl ProviderService {
    /// Seals the secrets that an earlier version stored in clear. Answers the providers that had some.
    pub async fn seal_stored(&self) -> store::Result<Vec<ProviderId>> {
        let mut found = vec![];
        for stored in self.store.all_providers().await? {
            let provider = &stored.provider;
            let Some(kind) = self.directory.registry().get(&provider.kind) else {
                continue;
            };
            let owner = Owner {
                sealer: self.directory.sealer(),
                info: kind.info(),
                tenant: provider.tenant,
                provider: &provider.id,
            };
            let Some(sealed) = owner.seal_stored(provider) else {
                continue;
            };
            let (settings, secrets) = (&sealed.settings, &sealed.secrets);
            let (tenant, id) = (provider.tenant, &provider.id);
            // A provider that is changed meanwhile is stored sealed by whoever changes it.
            if self
                .store
                .reseal_provider(tenant, id, stored.version, settings, secrets)
                .await?
            {
                found.push(id.clone());
            }
        }
        Ok(found)
    }

    /// Seals every secret with the current key again. Answers (resealed, could not be opened).
    pub async fn reseal(&self) -> store::Result<(u64, Vec<String>)> {
        self.seal_stored().await?;
        let (mut resealed, mut closed) = self.reseal_callbacks().await?;
        for stored in self.store.all_providers().await? {
            let NewProvider {
                tenant,
                id,
                settings,
                secrets,
                ..
            } = &stored.provider;
            let sealer = self.directory.sealer();
            if !secrets.values().any(|sealed| sealer.is_outdated(sealed)) {
                continue;
            }
            let mut fresh = BTreeMap::new();
            for (setting, sealed) in secrets {
                let place = Place {
                    tenant: *tenant,
                    provider: id,
                    setting,
                };
                match sealer.open(place, sealed) {
                    Ok(plain) => {
                        fresh.insert(setting.clone(), sealer.seal(place, &plain));
                    }
                    Err(why) => closed.push(format!("{id}: {setting}: {why}")),
                }
            }
            if fresh.len() == secrets.len()
                && self
                    .store
                    .reseal_provider(*tenant, id, stored.version, settings, &fresh)
                    .await?
            {
                resealed += 1;
            }
        }
        Ok((resealed, closed))
    }
}
