//! What a lane is doing, on one line. The words are central's; the times are shown as everywhere here.

use super::time;
use client::Lane;

/// `mail is held: the provider refuses our credentials, since 5m ago; next in 4m (535 …)`
pub fn doing(lane: &Lane) -> String {
    let name = match lane.provider.as_str() {
        "" => "what has no provider",
        id => id,
    };
    format!("{name} is {}", state(lane))
}

/// The same without its name.
pub fn state(lane: &Lane) -> String {
    let since = lane.since.map(|at| format!(", since {}", time::short(at)));
    let next = lane.until.map(|at| format!("; next {}", time::short(at)));
    let detail = lane.detail.as_ref().map(|detail| format!(" ({detail})"));
    format!(
        "{}: {}{}{}{}",
        lane.state,
        lane.words,
        since.unwrap_or_default(),
        next.unwrap_or_default(),
        detail.unwrap_or_default()
    )
}
