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
    let anybody = central.users.anybody().await.context("cannot look for users")?;
    if !anybody && server.oidc_issuer.is_none() {
        tracing::warn!(
            "nobody can sign in to the console yet; `waypost user add NAME --role admin` makes a user"
        );
    }
    Ok(())
}

/// Makes `server.bootstrap_key` a key of tenant default, once: a key of that name that was ever made, even one
/// that was revoked since, is left as it is. A text that opens nothing is told of.
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
    let hash = central::keys::hash(text.expose());
    if central.store.key_by_hash(&hash).await?.is_some() {
        return Ok(());
    }
    let known: Vec<_> = keys.iter().filter(|key| key.name == NAME).collect();
    if known.iter().any(|key| key.revoked_at.is_none()) {
        not_in_force("the database has a key of that name with another text, made at an earlier start");
        return Ok(());
    }
    if !known.is_empty() {
        not_in_force("the key of that name was revoked, and that is final");
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
        Ok(_) => Ok(()),
        // Another node that starts at the same time was faster, perhaps with another text.
        Err(store::Error::Conflict(_)) => {
            if central.store.key_by_hash(&hash).await?.is_none() {
                not_in_force(
                    "its text belongs to a revoked key, or another node has just made one of its own",
                );
            }
            Ok(())
        }
        Err(e) => Err(e).context("cannot store server.bootstrap_key"),
    }
}

/// Whoever relies on the key would otherwise only learn from a 401 that it opens nothing.
fn not_in_force(reason: &str) {
    tracing::warn!(
        reason,
        "server.bootstrap_key is not in force, calls with it are answered 401; go on with the key in use, or make one \
         with `waypost key create --role admin`, and take the setting out or correct it"
    );
}
