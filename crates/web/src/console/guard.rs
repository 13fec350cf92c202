//! Who is looking, and whether they may. Runs before every page, with what the page demands.
//!
//! Always true: a handler sees a [`Signed`] only for a live session whose role in the chosen tenant is let in; a form
//! reaches its handler only with the session's own secret, from our own page.

use super::{
    cookies, failure,
    flash::{Flash, redirect},
    form::{self, Form},
    once::Once,
    theme::Theme,
    zone,
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
use domain::Zone;
use ipnet::IpNet;
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
    pub zone: Zone,
    pub flash: Option<Flash>,
    /// A secret that this page is to show, once.
    pub once: Option<Once>,
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
        let had_one = cookies::read(request.headers(), &self.state.console, SESSION_COOKIE).is_some();
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
    let largest = secret.map_or(form::MAX_OPEN_FORM_BYTES, |_| form::MAX_FORM_BYTES);
    let form = Form::read(whole, largest).await?;
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
    let Some(token) = cookies::read(headers, &state.console, SESSION_COOKIE) else {
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
        zone: zone::read(headers),
        flash: Flash::read(headers, &state.console),
        once: Once::read(
            headers,
            &state.console,
            state.central.directory.sealer(),
            user.id.0,
            uri.path(),
            state.central.clock.now(),
        ),
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

/// Who asks: the peer, or whom the trusted proxies in front say, each speaking for the one before it.
pub fn address(
    state: &Shared,
    headers: &HeaderMap,
    peer: Option<&ConnectInfo<SocketAddr>>,
) -> Option<IpAddr> {
    let peer = peer.map(|ConnectInfo(address)| address.ip().to_canonical())?;
    Some(client_address(headers, peer, &state.console.trusted_proxies))
}

/// Anybody can write `X-Forwarded-For`; what a proxy that we trust has added to its end counts, and no more.
fn client_address(headers: &HeaderMap, peer: IpAddr, trusted: &[IpNet]) -> IpAddr {
    let lines = headers.get_all("x-forwarded-for").iter();
    let hops = lines.filter_map(|line| line.to_str().ok());
    let hops: Vec<&str> = hops.flat_map(|line| line.split(',')).map(str::trim).collect();
    let mut asks = peer;
    for hop in hops.into_iter().rev() {
        if !trusted.iter().any(|network| network.contains(&asks)) {
            break;
        }
        let Some(before) = hop_address(hop) else { break };
        asks = before;
    }
    asks
}

/// Some proxies add the port.
fn hop_address(text: &str) -> Option<IpAddr> {
    let bare = text.trim_matches(['[', ']']).parse::<IpAddr>().ok();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.or_else(with_port).map(|address| address.to_canonical())
}

/// Whether the browser wants a page rather than JSON.
pub fn wants_page(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forwarded_address_counts_only_from_a_proxy_that_is_trusted() {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "fd00::/8"].map(|n| n.parse().unwrap()).to_vec();
        for (peer, forwarded, asks) in [
            ("192.0.2.1", vec!["203.0.113.9"], "192.0.2.1"),
            ("127.0.0.1", vec!["203.0.113.9"], "127.0.0.1"),
            ("10.0.0.1", vec!["203.0.113.9"], "203.0.113.9"),
            // What the client itself wrote comes first and is not believed.
            ("10.0.0.1", vec!["1.1.1.1, 203.0.113.9"], "203.0.113.9"),
            ("10.0.0.1", vec!["1.1.1.1", "203.0.113.9,10.7.7.7"], "203.0.113.9"),
            ("10.0.0.1", vec!["203.0.113.9:4711"], "203.0.113.9"),
            ("10.0.0.1", vec!["[2001:db8::7]:4711"], "2001:db8::7"),
            ("10.0.0.1", vec!["203.0.113.9, unknown"], "10.0.0.1"),
            ("fd00::1", vec!["2001:db8::7"], "2001:db8::7"),
            ("10.0.0.1", vec![], "10.0.0.1"),
        ] {
            let mut headers = HeaderMap::new();
            for line in &forwarded {
                headers.append("x-forwarded-for", line.parse().unwrap());
            }
            let found = client_address(&headers, peer.parse().unwrap(), &trusted);
            assert_eq!(found, asks.parse::<IpAddr>().unwrap(), "{peer} {forwarded:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
        let loopback = "127.0.0.1".parse().unwrap();
        assert_eq!(client_address(&headers, loopback, &[]), loopback);
    }
}
