//! axe-core: what a page keeps from those who cannot see it well, or use no mouse.

use super::Browser;
use serde_json::Value;

/// The file that `scripts/test` installs.
pub fn source() -> String {
    let file = std::env::var("WAYPOST_TEST_AXE")
        .expect("WAYPOST_TEST_AXE names axe.min.js of the npm package axe-core; scripts/test installs it");
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// Serious and critical violations, in words.
pub async fn violations(browser: &Browser, axe: &str) -> Vec<String> {
    browser.run(axe).await;
    let found = browser
        .run_async(
            "const done = arguments[arguments.length - 1];\
             axe.run(document, { resultTypes: ['violations'] }).then((found) => done(found.violations), (e) => done([{ impact: 'critical', id: String(e), nodes: [] }]));",
        )
        .await;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = found.as_array().cloned().unwrap_or_default();
    all.iter()
        .filter(|one| matches!(one["impact"].as_str(), Some("serious" | "critical")))
        .map(|one| {
            let places = one["nodes"].as_array().cloned().unwrap_or_default();
            let places: Vec<_> = places
                .iter()
                .map(|node| format!("{} {}", text(&node["failureSummary"]), text(&node["html"])))
                .collect();
            format!(
                "{} ({}): {}",
                text(&one["id"]),
                text(&one["help"]),
                places.join("\n  ")
            )
        })
        .collect()
}
