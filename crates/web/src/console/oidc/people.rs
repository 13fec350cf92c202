//! Who the identity provider speaks of, as a user here.

use super::{Oidc, provider::Claimed};
use crate::{
    problem::{Code, Problem, Result},
    state::Shared,
};
use domain::Actor;
use store::users::{NewUser, User};

/// The user the provider speaks of, made or brought up to date.
pub async fn known_user(state: &Shared, oidc: &Oidc, claimed: &Claimed) -> Result<User, Problem> {
    let store = &state.central.store;
    let actor = Actor::new("openid");
    let mut given = vec![];
    for rule in oidc.rules(claimed) {
        if let Some(tenant) = store.tenant_by_name(&rule.tenant).await?
            && given.iter().all(|(known, _)| *known != tenant.id)
        {
            given.push((tenant.id, rule.role));
        }
    }
    let known = store.user_by_subject(&claimed.subject).await?;
    let Some((tenant, role)) = given.first().copied() else {
        // The organisation has taken every role away: what they could still do here ends now.
        if let Some(user) = &known {
            for (tenant, _) in &user.roles {
                store.set_role(user.id, *tenant, None, &actor).await?;
            }
        }
        return Err(Problem::forbidden(
            "Your organisation gives you no role here. Ask whoever runs Waypost for one.",
        ));
    };
    let user = match known {
        Some(user) => user,
        None => {
            let new = NewUser {
                name: claimed.name.trim().chars().take(255).collect(),
                password: None,
                subject: Some(claimed.subject.clone()),
                tenant,
                role,
            };
            store
                .create_user(new, &actor)
                .await
                .map_err(|error| match error {
                    store::Error::Conflict(_) => Problem::new(
                        Code::Conflict,
                        format!(
                            "The name {} belongs to somebody else here. Ask an admin.",
                            claimed.name
                        ),
                    ),
                    other => other.into(),
                })?
        }
    };
    for (tenant, role) in &given {
        if user.roles.iter().all(|known| known != &(*tenant, *role)) {
            store.set_role(user.id, *tenant, Some(*role), &actor).await?;
        }
    }
    for (tenant, _) in &user.roles {
        if given.iter().all(|(kept, _)| kept != tenant) {
            store.set_role(user.id, *tenant, None, &actor).await?;
        }
    }
    store
        .user(user.id)
        .await?
        .ok_or_else(|| Problem::not_found("user"))
}
