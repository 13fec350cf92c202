//! The time limit that a provider's settings give an attempt.

use crate::world::outside;
use delivery::{Captured, Registry};
use serde_json::json;
use std::sync::Arc;

#[test]
fn a_timeout_of_more_than_an_hour_is_refused_by_every_kind_that_has_one() {
    let registry = Registry::standard(Arc::new(outside()), Captured::default());
    let mut with_timeout = 0;
    for kind in registry.iter() {
        let name = kind.info().kind;
        if !kind
            .info()
            .settings
            .iter()
            .any(|setting| setting.name == "timeout")
        {
            continue;
        }
        with_timeout += 1;
        let is_refused = |timeout: &str| {
            let given = json!({"timeout": timeout});
            let problems = kind.check(given.as_object().unwrap());
            problems.iter().any(|bad| bad.field == "settings.timeout")
        };
        for fine in ["1s", "30s", "1h"] {
            assert!(!is_refused(fine), "{name}: {fine}");
        }
        for bad in ["0s", "3601s", "2h", "365d", "18000000000000000000s"] {
            assert!(is_refused(bad), "{name}: {bad}");
        }
    }
    assert!(with_timeout > 10, "{with_timeout} kinds have a timeout");
}
