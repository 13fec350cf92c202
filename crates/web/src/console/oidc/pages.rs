//! Off to the identity provider, and back.

use super::{Oidc, people::known_user};
use crate::{
    console::{
        cookies::{self, Cookie},
        failure::{Result, Trouble},
        flash::{Flash, is_ours},
        sign_in::{enter, next_of},
    },
    problem::{Code, Problem},
    query::Params,
    state::Shared,
};
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use central::users::SignInError;
use std::time::Duration;
use subtle::ConstantTimeEq;

const COOKIE: &str = "waypost_openid";
/// As long as somebody may take at the identity provider.
const SIGN_IN_COOKIE_AGE: Duration = Duration::from_secs(600);

fn provider(state: &Shared) -> Result<&Oidc> {
    let provider = state.console.oidc.as_deref();
    provider.ok_or_else(|| Trouble(Problem::not_found("page")))
}

pub async fn start(State(state): State<Shared>, uri: Uri) -> Result {
    let next = next_of(&uri);
    let (place, kept) = match provider(&state)?.start(&next).await {
        Ok(started) => started,
        Err(why) => return Ok(failed(&state, &why)),
    };
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response();
    let cookie = Cookie {
        name: COOKIE,
        value: &kept,
        lasts: Some(SIGN_IN_COOKIE_AGE),
    };
    cookie.set(response.headers_mut(), &state.console);
    Ok(response)
}

pub async fn back(State(state): State<Shared>, headers: HeaderMap, uri: Uri) -> Result {
    let oidc = provider(&state)?;
    let mut params = Params::read(&uri)?;
    let kept = cookies::read(&headers, &state.console, COOKIE)
        .unwrap_or_default()
        .to_owned();
    let parts: Vec<_> = kept.split('|').collect();
    let [known, nonce, verifier, next] = parts[..] else {
        return Ok(refused(
            &state,
            "That took too long, or the browser keeps no cookies. Try again.",
        ));
    };
    let given = params.text("state").unwrap_or_default();
    if !bool::from(given.as_bytes().ct_eq(known.as_bytes())) {
        return Ok(refused(&state, "The answer was not for this browser. Try again."));
    }
    if let Some(error) = params.text("error") {
        tracing::info!(error, "the identity provider refused a sign-in");
        return Ok(refused(&state, "Your organisation did not let you in."));
    }
    let code = params.text("code").unwrap_or_default();
    let claimed = match oidc.finish(code, nonce, verifier).await {
        Ok(claimed) => claimed,
        Err(why) => return Ok(failed(&state, &why)),
    };
    let user = match known_user(&state, oidc, &claimed).await {
        Ok(user) => user,
        Err(problem) if matches!(problem.code, Code::Forbidden | Code::Conflict) => {
            return Ok(refused(&state, &problem.detail));
        }
        Err(problem) => return Err(Trouble(problem)),
    };
    let next = cookies::decode(next).filter(|next| is_ours(next));
    match state.central.users.open(user, "openid").await {
        Ok(signed_in) => {
            let mut response = enter(&state, &signed_in, next.as_deref().unwrap_or("/"));
            Cookie::gone(COOKIE).set(response.headers_mut(), &state.console);
            Ok(response)
        }
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(_) => Ok(refused(&state, "You are kept out of this console. Ask an admin.")),
    }
}

fn refused(state: &Shared, why: &str) -> Response {
    let mut response = Flash::bad(why).at("/sign-in", &state.console);
    Cookie::gone(COOKIE).set(response.headers_mut(), &state.console);
    response
}

fn failed(state: &Shared, why: &str) -> Response {
    tracing::warn!(error = why, "signing in through the identity provider failed");
    refused(
        state,
        "Your organisation's sign-in cannot be used just now; the cause is in the server's log.",
    )
}
