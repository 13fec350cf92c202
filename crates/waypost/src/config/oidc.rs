//! `server.oidc_*`: signing in through an identity provider.

use super::{
    problem::Problem,
    server::{OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_ISSUER, OIDC_ROLES, PUBLIC_URL, Server, is_http_url},
};
use ::store::directory::Role;
use central::users::ROLES;
use secrecy::SecretString;
use web::console::oidc::{OidcSettings, RoleRule};

/// All of it or nothing: a key that is missing or left over is named.
pub fn read(server: &Server) -> Result<Option<OidcSettings>, Vec<Problem>> {
    let mut bad = vec![];
    let secret = server.oidc_secret().read().unwrap_or_else(|problem| {
        bad.push(problem);
        None
    });
    let Some(issuer) = &server.oidc_issuer else {
        let left = [
            (server.oidc_client_id.is_some(), &OIDC_CLIENT_ID),
            (secret.is_some(), &OIDC_CLIENT_SECRET),
            (!server.oidc_roles.is_empty(), &OIDC_ROLES),
        ];
        for (_, key) in left.into_iter().filter(|(given, _)| *given) {
            bad.push(Problem::new(key.name, "is set without server.oidc_issuer"));
        }
        return if bad.is_empty() { Ok(None) } else { Err(bad) };
    };
    if !is_http_url(issuer) {
        bad.push(Problem::takes(&OIDC_ISSUER, format!("{issuer:?}")));
    }
    if server.public_url.is_none() {
        bad.push(Problem::new(
            PUBLIC_URL.name,
            "must be set with server.oidc_issuer: the identity provider sends people back to it",
        ));
    }
    for (given, key) in [
        (server.oidc_client_id.is_some(), &OIDC_CLIENT_ID),
        (secret.is_some(), &OIDC_CLIENT_SECRET),
        (!server.oidc_roles.is_empty(), &OIDC_ROLES),
    ] {
        if !given {
            bad.push(Problem::new(key.name, "must be set with server.oidc_issuer"));
        }
    }
    let mut roles = vec![];
    for text in &server.oidc_roles {
        match rule(text) {
            Some(rule) => roles.push(rule),
            None => bad.push(Problem::takes(&OIDC_ROLES, format!("{text:?}"))),
        }
    }
    match (&server.public_url, &server.oidc_client_id, secret) {
        (Some(public_url), Some(client_id), Some(secret)) if bad.is_empty() => Ok(Some(OidcSettings {
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret: SecretString::from(secret.expose().to_owned()),
            public_url: public_url.clone(),
            role_claim: server.oidc_role_claim.clone(),
            roles,
        })),
        _ => Err(bad),
    }
}

/// `VALUE=ROLE` or `VALUE=ROLE@TENANT`.
fn rule(text: &str) -> Option<RoleRule> {
    let (value, role) = text.rsplit_once('=')?;
    let (role, tenant) = role.split_once('@').unwrap_or((role, "default"));
    let role: Role = role.trim().parse().ok()?;
    let (value, tenant) = (value.trim(), tenant.trim());
    (ROLES.contains(&role) && !value.is_empty() && !tenant.is_empty()).then(|| RoleRule {
        value: value.into(),
        role,
        tenant: tenant.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::secret::Secret;

    fn server() -> Server {
        Server {
            public_url: Some("https://waypost.example.com".into()),
            oidc_issuer: Some("https://id.example.com".into()),
            oidc_client_id: Some("waypost".into()),
            oidc_client_secret: Some(Secret::new("hunter2")),
            oidc_roles: vec!["admins=admin".into(), "cn=plant=viewer@plant".into()],
            ..Server::default()
        }
    }

    #[test]
    fn rules_say_who_may_what_where() {
        let read = read(&server()).unwrap().unwrap();
        let rule = |value: &str, role, tenant: &str| RoleRule {
            value: value.into(),
            role,
            tenant: tenant.into(),
        };
        assert_eq!(
            read.roles,
            [
                rule("admins", Role::Admin, "default"),
                rule("cn=plant", Role::Viewer, "plant")
            ]
        );
        assert!(!format!("{read:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_missing_or_left_over_is_named() {
        let missing = Server {
            public_url: None,
            oidc_client_secret: None,
            oidc_roles: vec!["admins=producer".into()],
            ..server()
        };
        let named: Vec<_> = read(&missing).unwrap_err().into_iter().map(|p| p.key).collect();
        assert_eq!(
            named,
            [
                "server.public_url",
                "server.oidc_client_secret",
                "server.oidc_roles"
            ]
        );
        let left = Server {
            oidc_issuer: None,
            ..server()
        };
        assert_eq!(read(&left).unwrap_err().len(), 3);
        assert!(read(&Server::default()).unwrap().is_none());
    }
}
