//! Where providers send receipts: `/callbacks/{providerId}/{secret}`. The secret is all that lets anybody in.
//!
//! Leaves to others: whose it is, signatures and storing (`central::receipts`).
//! Always true: a wrong secret is a 404 before the body is read; what is answered with a success is stored; neither the
//! secret nor the body is logged.

use crate::{
    api::PathTexts,
    body,
    problem::{Code, Problem, Result},
    state::Shared,
};
use axum::{
    extract::{OriginalUri, Request, State},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use central::receipts::{CallbackError, Incoming, Taken};
use delivery::receipt::CallbackRefused;

pub const PATH: &str = "/callbacks/{provider}/{secret}";
/// Meta sends up to 3 MB at once.
const MAX_CALLBACK_BYTES: usize = 4 << 20;
/// 128 bits, as they are written.
const SECRET_LETTERS: usize = 32;
/// When an inbox that is full is worth another try.
const FULL_RETRY_SECONDS: HeaderValue = HeaderValue::from_static("60");

pub fn route() -> MethodRouter<Shared> {
    get(receive).post(receive)
}

async fn receive(
    State(state): State<Shared>,
    PathTexts(provider, secret): PathTexts,
    OriginalUri(uri): OriginalUri,
    request: Request,
) -> Result<Response> {
    let nobody = || Problem::not_found("callback");
    if secret.len() != SECRET_LETTERS {
        return Err(nobody());
    }
    let receipts = &state.central.receipts;
    let provider = receipts.provider(&provider, &secret).await?;
    let provider = provider.ok_or_else(nobody)?;
    let (method, headers) = (request.method().clone(), request.headers().clone());
    let body = body::whole(request, &state, MAX_CALLBACK_BYTES).await?;
    let call = Incoming {
        method: &method,
        path_and_query: uri.path_and_query().map_or("", |path| path.as_str()),
        headers: &headers,
        body: &body,
    };
    match receipts.take(&provider, call).await {
        Ok(Taken::Stored(_)) => Ok("ok\n".into_response()),
        Ok(Taken::Answer(answer)) => Ok(answer.into_response()),
        Err(CallbackError::Full) => {
            let full = Problem::new(
                Code::Unavailable,
                "too many receipts wait already; send it again later",
            );
            let mut response = full.into_response();
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, FULL_RETRY_SECONDS);
            Ok(response)
        }
        Err(error) => {
            let id = &provider.provider.id;
            let cause = &error as &dyn std::error::Error;
            tracing::warn!(provider.id = %id, error = cause, "a callback was not taken");
            Err(refused(error))
        }
    }
}

fn refused(error: CallbackError) -> Problem {
    match error {
        CallbackError::Refused(CallbackRefused::NoReceipts) => Problem::not_found("callback"),
        CallbackError::Refused(why @ (CallbackRefused::Signature | CallbackRefused::NotSetUp(_))) => {
            Problem::new(Code::Forbidden, why.to_string())
        }
        CallbackError::Refused(why @ CallbackRefused::Unreadable(_)) => {
            Problem::new(Code::InvalidJson, why.to_string())
        }
        CallbackError::Full | CallbackError::NotUsable(_) => Problem::new(
            Code::Unavailable,
            "it cannot be taken just now; send it again later",
        ),
        CallbackError::Store(error) => error.into(),
    }
}
