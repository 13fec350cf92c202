//! The viewer's time zone. The script leaves its name in a cookie; without script everything is in UTC.

use super::cookies;
use axum::http::HeaderMap;
use domain::Zone;

const COOKIE: &str = "waypost_zone";

pub fn read(headers: &HeaderMap) -> Zone {
    let name = cookies::read_any(headers, COOKIE).unwrap_or_default();
    // A slash is not for every cookie parser, so the script writes it as %2F.
    Zone::named(&name.replace("%2F", "/")).unwrap_or_default()
}
