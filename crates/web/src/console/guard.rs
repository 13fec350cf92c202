//! Who is looking, and whether they may. Runs before every page, with what the page demands.
//!
//! Always true: a handler sees a [`Signed`] only for a live session whose role in the chosen tenant is let in; a form
//! reaches its handler only with the session's own secret, from our own page.

use super::{
    cookies, failure,
    flash::{Flash, redirect},
    form::Form,
    theme::Theme,
};
use crate::{
    access::Access,
    auth::{AskedBy, Caller},
    problem::{Code, Problem, Result},
    state::Shared,
};
use axum::{
    extract::{ConnectInfo, FromRequestParts, Request, State},
    http::{HeaderMap, Method, Uri, header, request::Parts},
    middleware::Next,
    response::Response,
};
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};
use store::users::{Session, User};

pub const SESSION_COOKIE: &str = "waypost";

/// Somebody who is signed in, and what their browser brought along.
#[derive(Clone)]
pub struct Signed {
    pub caller: Caller,
    pub user: Arc<User>,
    pub session: Arc<Session>,
    pub token: Arc<str>,
    pub theme: Theme,
    pub flash: Option<Flash>,
    /// The page they are on, to come back to.
    pub place: String,
    pub address: Option<IpAddr>,
}

impl std::fmt::Debug for Signed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signed({})", self.user.name)
    }
}

impl<S: Sync> FromRequestParts<S> for Signed {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| {
            tracing::error!("a page that needs somebody to be signed in sits on an open route");
            Problem::internal()
        })
    }
}

/// What one page demands.
#[derive(Debug, Clone)]
pub struct Guard {
    pub state: Shared,
    pub access: Access,
}

/// The layer on every page.
pub async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    if guard.access == Access::Open {
        return guard.open(request, next).await;
    }
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().copied();
    let found = signed(&guard.state, request.headers(), request.uri(), peer).await;
    let signed = match found {
        Ok(Some(signed)) => signed,
        Ok(None) => return guard.to_sign_in(&request),
        Err(problem) => return failure::bare(request.headers(), &problem),
    };
    let mut response = match guard.let_in(&signed, request).await {
        Ok(request) => next.run(request).await,
        Err(problem) => failure::Trouble::from(problem).into_bare(),
    };
    response
        .extensions_mut()
        .insert(AskedBy(signed.caller.actor.clone()));
    failure::dressed(&guard.state, &signed, response).await
}

impl Guard {
    /// Pages before signing in. Their forms carry a secret of their own.
    async fn open(&self, request: Request, next: Next) -> Response {
        let headers = request.headers().clone();
        let request = match with_form(request, None).await {
            Ok(request) => request,
            Err(problem) => return failure::bare(&headers, &problem),
        };
        let response = next.run(request).await;
        match response.extensions().get::<Problem>() {
            Some(problem) => failure::bare(&headers, problem),
            None => response,
        }
    }

    async fn let_in(&self, signed: &Signed, request: Request) -> Result<Request> {
        if !self.access.allows(signed.caller.role) {
            return Err(Problem::forbidden(format!(
                "this needs the role {}; yours here is {}",
                self.access.in_words(),
                signed.caller.role
            )));
        }
        let mut request = with_form(request, Some(&signed.session.csrf)).await?;
        request.extensions_mut().insert(signed.caller.clone());
        request.extensions_mut().insert(signed.clone());
        Ok(request)
    }

    fn to_sign_in(&self, request: &Request) -> Response {
        let had_one = cookies::read(request.headers(), SESSION_COOKIE).is_some();
        if request.method() == Method::GET {
            let back = place(request.uri());
            let place = match back.as_str() {
                "/" => "/sign-in".to_owned(),
                back => format!("/sign-in?next={}", cookies::encode(back)),
            };
            return match had_one {
                true => Flash::bad("Your session has ended. Sign in again.").at(&place, &self.state.console),
                false => redirect(&place),
            };
        }
        Flash::bad("Your session had ended, so nothing was changed. Sign in and try again.")
            .at("/sign-in", &self.state.console)
    }
}

/// Reads a form and checks that it is one of ours.
async fn with_form(request: Request, secret: Option<&str>) -> Result<Request> {
    if request.method() != Method::POST {
        return Ok(request);
    }
    from_our_pages(request.headers())?;
    let (mut parts, body) = request.into_parts();
    let mut whole = Request::new(body);
    *whole.headers_mut() = parts.headers.clone();
    *whole.method_mut() = Method::POST;
    let form = Form::read(whole).await?;
    if let Some(secret) = secret {
        form.check(secret)?;
    }
    parts.extensions.insert(form);
    Ok(Request::from_parts(parts, axum::body::Body::empty()))
}

/// Browsers say where a form came from; one from elsewhere is refused before anything is read.
fn from_our_pages(headers: &HeaderMap) -> Result<()> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let elsewhere = match (text("origin"), text("host")) {
        (Some(origin), Some(host)) => origin.split_once("://").is_none_or(|(_, from)| from != host),
        _ => false,
    };
    let cross = matches!(text("sec-fetch-site"), Some("cross-site" | "same-site"));
    if elsewhere || cross {
        return Err(Problem::new(
            Code::Forbidden,
            "the form came from another site; nothing was changed",
        ));
    }
    Ok(())
}

async fn signed(
    state: &Shared,
    headers: &HeaderMap,
    uri: &Uri,
    peer: Option<ConnectInfo<SocketAddr>>,
) -> Result<Option<Signed>> {
    let Some(token) = cookies::read(headers, SESSION_COOKIE) else {
        return Ok(None);
    };
    let Some((session, user)) = state.central.users.session(token).await? else {
        return Ok(None);
    };
    let Some(role) = user.role_in(session.tenant) else {
        return Ok(None);
    };
    Ok(Some(Signed {
        caller: Caller {
            tenant: session.tenant,
            role,
            actor: user.actor(),
        },
        token: token.into(),
        theme: Theme::read(headers),
        flash: Flash::read(headers),
        place: place(uri),
        address: address(state, headers, peer.as_ref()),
        user: Arc::new(user),
        session: Arc::new(session),
    }))
}

fn place(uri: &Uri) -> String {
    uri.path_and_query()
        .map_or("/", |place| place.as_str())
        .to_owned()
}

/// Who asks: the peer, or whom the proxy in front says.
pub fn address(
    state: &Shared,
    headers: &HeaderMap,
    peer: Option<&ConnectInfo<SocketAddr>>,
) -> Option<IpAddr> {
    let peer = peer.map(|ConnectInfo(address)| address.ip());
    let believed = state.console.behind_proxy || peer.is_some_and(|peer| peer.is_loopback());
    let forwarded = headers
        .get("x-forwarded-for")
        .and_then(|value| value.to_str().ok())
        .and_then(|list| list.rsplit(',').next())
        .and_then(|last| last.trim().parse().ok());
    forwarded.filter(|_| believed).or(peer)
}

/// Whether the browser wants a page rather than JSON.
pub fn wants_page(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}
