//! What is done once before central serves: the first key, the first user, secrets of earlier versions.

use crate::config::server::Server;
use anyhow::Context;
use central::Central;
use domain::{Actor, TenantId};
use store::directory::Role;

const NAME: &str = "bootstrap";

/// Earlier versions stored a secret in clear when it was given under its dotted name, and URLs that hold one.
pub async fn seal_stored_secrets(central: &Central) -> anyhow::Result<()> {
    let sealed = central.providers.seal_stored().await;
    for provider in sealed.context("cannot seal what is stored of providers")? {
        tracing::warn!(
            provider.id = %provider,
            "a secret of this provider was stored in clear and is sealed now; older backups still hold it"
        );
    }
    Ok(())
}

/// Says how to make the first user of the console, while there is none.
pub async fn first_user(central: &Central, server: &Server) -> anyhow::Result<()> {
    let users = central.store.all_users().await.context("cannot look for users")?;
    if users.is_empty() && server.oidc_issuer.is_none() {
        tracing::warn!(
            "nobody can sign in to the console yet; `waypost user add NAME --role admin` makes a user"
        );
    }
    Ok(())
}

/// Makes `server.bootstrap_key` a key of tenant default, once: a key of that name that was ever made, even one
/// that was revoked since, is left as it is.
pub async fn first_key(central: &Central, server: &Server) -> anyhow::Result<()> {
    let keys = central
        .store
        .keys(TenantId::DEFAULT)
        .await
        .context("cannot look for API keys")?;
    let Some(text) = server
        .bootstrap_key()
        .read()
        .map_err(|p| anyhow::anyhow!("{}: {}", p.key, p.what))?
    else {
        if keys.iter().all(|key| key.revoked_at.is_some()) {
            tracing::warn!("there is no API key yet; `waypost key create --role admin` makes one");
        }
        return Ok(());
    };
    if keys.iter().any(|key| key.name == NAME) {
        let known = central
            .store
            .key_by_hash(&central::keys::hash(text.expose()))
            .await?;
        if known.is_none() {
            tracing::warn!(
                "server.bootstrap_key is not in force: the key \"bootstrap\" was made at an earlier start, \
                 and was revoked or had another text"
            );
        }
        return Ok(());
    }
    match central
        .keys
        .adopt(
            TenantId::DEFAULT,
            NAME,
            Role::Admin,
            text.expose(),
            &Actor::system(),
        )
        .await
    {
        // Another node that starts at the same time was faster.
        Ok(_) | Err(store::Error::Conflict(_)) => Ok(()),
        Err(e) => Err(e).context("cannot store server.bootstrap_key"),
    }
}
