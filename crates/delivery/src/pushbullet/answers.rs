//! What Pushbullet's answers mean.

use crate::{
    http::{Answer, Meaning, default_meaning},
    kit::Sending,
};
use domain::{Accepted, Failure, Scope};
use serde::Deserialize;

/// The month's free pushes are used up; whether there are more is asked about twice a day.
const QUOTA_PROBE_SECONDS: u64 = 12 * 3600;

#[derive(Deserialize)]
struct Pushed {
    iden: String,
}

#[derive(Deserialize, Default)]
struct Refused {
    error: Reason,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reason {
    code: Option<String>,
    /// Which field of ours it is about.
    param: Option<String>,
}

pub(super) fn understand(sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let Reason { code, param } = answer.json::<Refused>().unwrap_or_default().error;
    let meaning = match (status, code.as_deref().unwrap_or_default()) {
        (200..=299, _) => return answer.accepted(answer.json().map(|pushed: Pushed| pushed.iden)),
        (_, "pushbullet_pro_required") => Meaning::quota().waiting(QUOTA_PROBE_SECONDS),
        (404, _) => sending.no_such_place(),
        (400, _) if matches!(param.as_deref(), Some("email" | "device_iden" | "channel_tag")) => {
            sending.no_such_place()
        }
        (429, _) => {
            let wait = answer.seconds_until("x-ratelimit-reset", sending.now);
            Meaning::rate_limited(Scope::Lane).waiting(wait)
        }
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    Err(answer.failure(meaning, code.map(Into::into)))
}
