//! Who is asking, and for which tenant. Runs before a route's handler, with what the route demands.
//!
//! Always true: a handler sees a [`Caller`] only if its route's access allows the key's role; the caller's tenant
//! is the only one a handler can read or touch.

use crate::{
    access::Access,
    problem::{Code, Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::{Actor, TenantId};
use store::directory::Role;

/// The header by which an `ops` key chooses a tenant.
pub const TENANT_HEADER: &str = "waypost-tenant";

/// Who is asking, checked.
#[derive(Debug, Clone)]
pub struct Caller {
    pub tenant: TenantId,
    pub role: Role,
    pub actor: Actor,
}

/// Left on a response for the request log.
#[derive(Debug, Clone)]
pub struct AskedBy(pub Actor);

/// What one route demands.
#[derive(Debug, Clone)]
pub struct Guard {
    pub state: Shared,
    pub access: Access,
    /// The route reads no query parameters, so any is a mistake.
    pub no_params: bool,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| {
            tracing::error!("a handler that needs a caller sits on an open route");
            Problem::internal()
        })
    }
}

/// The layer on every route.
pub async fn guard(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    let caller = match guard.check(request.headers(), request.uri()).await {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let Some(caller) = caller else {
        return next.run(request).await;
    };
    let asked_by = AskedBy(caller.actor.clone());
    request.extensions_mut().insert(caller);
    let mut response = next.run(request).await;
    response.extensions_mut().insert(asked_by);
    response
}

impl Guard {
    async fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<Option<Caller>> {
        let caller = match self.access {
            Access::Open => None,
            access => Some(self.caller(access, headers, uri).await?),
        };
        if self.no_params && uri.query().is_some() {
            let mut params = Params::read(uri)?;
            params.text("tenant");
            params.finish()?;
        }
        Ok(caller)
    }

    async fn caller(&self, access: Access, headers: &HeaderMap, uri: &Uri) -> Result<Caller> {
        let text = bearer(headers).ok_or_else(|| {
            Problem::new(
                Code::Unauthorized,
                "send the key in the header Authorization: Bearer KEY",
            )
        })?;
        let principal = self.state.central.keys.authenticate(text).await?;
        let principal =
            principal.ok_or_else(|| Problem::new(Code::Unauthorized, "the key is unknown or revoked"))?;
        if !access.allows(principal.role) {
            return Err(Problem::forbidden(format!(
                "this needs the role {}; the key's is {}",
                access.in_words(),
                principal.role
            )));
        }
        let asked = asked_tenant(headers, uri)?;
        let tenant = match asked {
            None => principal.tenant,
            Some(name) => self.chosen(&name, principal.tenant, principal.role).await?,
        };
        Ok(Caller {
            tenant,
            role: principal.role,
            actor: principal.actor,
        })
    }

    /// Only `ops` may choose; for the others naming their own tenant is harmless and naming any other looks the
    /// same whether it exists or not.
    async fn chosen(&self, name: &str, own: TenantId, role: Role) -> Result<TenantId> {
        let found = self.state.central.store.tenant_by_name(name).await?.map(|t| t.id);
        match (role, found) {
            (Role::Ops, Some(id)) => Ok(id),
            (Role::Ops, None) => Err(Problem::not_found("tenant")),
            (_, Some(id)) if id == own => Ok(own),
            _ => Err(Problem::forbidden("only an ops key may choose another tenant")),
        }
    }
}

/// The key in the `Authorization` header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then_some(key)
}

fn asked_tenant(headers: &HeaderMap, uri: &Uri) -> Result<Option<String>> {
    if let Some(value) = headers.get(TENANT_HEADER) {
        let name = value
            .to_str()
            .map_err(|_| Problem::field("Waypost-Tenant", "must be plain text"))?;
        return Ok(Some(name.trim().to_owned()));
    }
    match uri.query() {
        Some(query) if query.contains("tenant=") => Ok(Params::read(uri)?.text("tenant")),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_a_bearer_header_only() {
        let with = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(with("Bearer wp_1").as_deref(), Some("wp_1"));
        assert_eq!(with("bearer  wp_1 ").as_deref(), Some("wp_1"));
        assert_eq!(with("Basic d3A6MQ=="), None);
        assert_eq!(with("Bearer "), None);
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
