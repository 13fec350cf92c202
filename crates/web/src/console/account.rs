//! One's own account: who one is, and a new password.

use super::{
    cookies::Cookie,
    failure::Result,
    flash::Flash,
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::{SESSION_COOKIE, Signed},
    show::human_age,
};
use crate::state::Shared;
use askama::Template;
use axum::{extract::State, http::StatusCode};
use central::users::{SignInError, UserError, password};
use domain::{FieldError, Timestamp};

#[derive(Template)]
#[template(path = "account/page.html")]
struct Page {
    frame: Frame,
    bad: Vec<FieldError>,
    has_password: bool,
    /// They come through the identity provider, which alone decides whether they may.
    through_provider: bool,
    last: Option<Timestamp>,
    until: Timestamp,
    shortest: usize,
}
framed!(Page);

async fn show(state: &Shared, signed: &Signed, bad: Vec<FieldError>) -> Result {
    let status = if bad.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let page = Page {
        frame: Frame::new(state, signed, "Your account", Nav::Account).await?,
        bad,
        has_password: signed.user.password.is_some(),
        through_provider: signed.user.subject.is_some(),
        last: signed.user.last_sign_in_at,
        until: signed.session.expires_at,
        shortest: password::MIN_CHARS,
    };
    Ok(page.show_as(state, status))
}

pub async fn page(State(state): State<Shared>, signed: Signed) -> Result {
    show(&state, &signed, vec![]).await
}

/// Needs the old password; ends every session, this one too.
pub async fn password(State(state): State<Shared>, signed: Signed, form: Form) -> Result {
    let users = &state.central.users;
    let (old, new) = (
        form.get("old").unwrap_or_default(),
        form.get("new").unwrap_or_default(),
    );
    if form.get("again") != Some(new) {
        let bad = FieldError::new("New password", "is not the same both times");
        return show(&state, &signed, vec![bad]).await;
    }
    if signed.user.password.is_some() {
        match users.is_password(&signed.user, old, signed.address).await {
            Ok(()) => {}
            Err(SignInError::Refused) => {
                let bad = FieldError::new("Old password", "is wrong");
                return show(&state, &signed, vec![bad]).await;
            }
            Err(SignInError::TooMany { wait }) => {
                let bad = FieldError::new(
                    "Old password",
                    format!("was wrong too often; wait {}", human_age(wait)),
                );
                return show(&state, &signed, vec![bad]).await;
            }
            Err(SignInError::Store(error)) => return Err(error.into()),
        }
    }
    match users
        .set_password(signed.user.id, new, &signed.caller.actor)
        .await
    {
        Ok(_) => {
            let said = Flash::good("Your password is changed. Sign in with it.");
            let mut response = said.at("/sign-in", &state.console);
            Cookie::gone(SESSION_COOKIE).set(response.headers_mut(), &state.console);
            Ok(response)
        }
        Err(UserError::Fields(bad)) => show(&state, &signed, bad).await,
        Err(UserError::Store(error)) => Err(error.into()),
    }
}
