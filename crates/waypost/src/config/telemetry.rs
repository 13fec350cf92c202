//! `[telemetry]`: where traces go.

use super::{key::Key, problem::Problem};
use hyper::Uri;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otlp_endpoint: Option<String>,
}

pub const OTLP_ENDPOINT: Key = Key::new(
    "telemetry.otlp_endpoint",
    "the address of an OpenTelemetry collector, like \"http://127.0.0.1:4318\"",
    "Where traces are sent by OTLP over HTTP (JSON). Without it none are made. Read by central and by a site's agent.",
)
.url()
.example("http://127.0.0.1:4318");

pub const KEYS: &[Key] = &[OTLP_ENDPOINT];

/// Where a collector takes requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    base: String,
    traces: Uri,
}

impl Telemetry {
    pub fn problems(&self) -> Vec<Problem> {
        self.endpoint().err().into_iter().collect()
    }

    pub fn endpoint(&self) -> Result<Option<Endpoint>, Problem> {
        let Some(text) = &self.otlp_endpoint else {
            return Ok(None);
        };
        let wrong = || Problem::takes(&OTLP_ENDPOINT, format!("{:?}", OTLP_ENDPOINT.mask(text)));
        let base = text.trim_end_matches('/');
        let base = base.strip_suffix("/v1/traces").unwrap_or(base);
        let traces: Uri = format!("{base}/v1/traces").parse().map_err(|_| wrong())?;
        let known = matches!(traces.scheme_str(), Some("http" | "https"));
        let plain = traces.query().is_none() && !base.contains(['@', '#']);
        if !known || !plain || traces.host().is_none_or(str::is_empty) {
            return Err(wrong());
        }
        Ok(Some(Endpoint {
            base: base.to_owned(),
            traces,
        }))
    }
}

impl Endpoint {
    pub fn traces(&self) -> Uri {
        self.traces.clone()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(text: &str) -> Result<Option<String>, ()> {
        let telemetry = Telemetry {
            otlp_endpoint: Some(text.into()),
        };
        let found = telemetry.endpoint().map_err(|_| ())?;
        Ok(found.map(|endpoint| endpoint.traces().to_string()))
    }

    #[test]
    fn the_path_of_the_protocol_is_added_where_it_is_missing() {
        for text in [
            "http://collector:4318",
            "http://collector:4318/",
            "http://collector:4318/v1/traces",
        ] {
            assert_eq!(endpoint(text), Ok(Some("http://collector:4318/v1/traces".into())));
        }
        assert_eq!(
            endpoint("https://x.example/otlp"),
            Ok(Some("https://x.example/otlp/v1/traces".into()))
        );
    }

    #[test]
    fn what_cannot_be_posted_to_is_refused() {
        for text in [
            "",
            "collector:4318",
            "grpc://x:4317",
            "http://",
            "http://u:p@x",
            "http://x?y=z",
        ] {
            assert_eq!(endpoint(text), Err(()), "{text}");
        }
        assert_eq!(Telemetry::default().endpoint(), Ok(None));
    }
}
