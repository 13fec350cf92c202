//! Pictures of pages, and what a page looks like to whom: light or dark, on a desk or in a hand.

use super::Browser;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    Light,
    Dark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    Desktop,
    Phone,
}

impl Colours {
    pub const ALL: [Colours; 2] = [Colours::Light, Colours::Dark];

    fn word(self) -> &'static str {
        match self {
            Colours::Light => "light",
            Colours::Dark => "dark",
        }
    }
}

impl Screen {
    pub const ALL: [Screen; 2] = [Screen::Desktop, Screen::Phone];

    fn size(self) -> (u32, u32) {
        match self {
            Screen::Desktop => (1280, 860),
            Screen::Phone => (390, 844),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Screen::Desktop => "desktop",
            Screen::Phone => "phone",
        }
    }
}

/// The longest part of a page that is pictured.
const MAX_HEIGHT: f64 = 1700.0;
/// Of the compression; flat colours lose nothing visible.
const QUALITY: u32 = 60;

/// Looks as the viewer prefers it, from the next page on.
pub async fn prefer(browser: &Browser, colours: Colours, screen: Screen) {
    let features = json!([{ "name": "prefers-color-scheme", "value": colours.word() }]);
    browser
        .devtools("Emulation.setEmulatedMedia", json!({ "features": features }))
        .await;
    let (width, height) = screen.size();
    let metrics = json!({
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": screen == Screen::Phone,
    });
    browser
        .devtools("Emulation.setDeviceMetricsOverride", metrics)
        .await;
}

/// Pictures the page if somebody asked for pictures.
pub async fn picture(browser: &Browser, name: &str, colours: Colours, screen: Screen) {
    let Some(folder) = std::env::var_os("WAYPOST_SCREENSHOTS") else {
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let metrics = browser.devtools("Page.getLayoutMetrics", json!({})).await;
    let height = metrics["cssContentSize"]["height"].as_f64().unwrap();
    let (width, least) = screen.size();
    let height = height.clamp(f64::from(least), MAX_HEIGHT);
    let asked = json!({
        "format": "webp", "quality": QUALITY, "captureBeyondViewport": true,
        "clip": { "x": 0, "y": 0, "width": width, "height": height, "scale": 1 },
    });
    let taken = browser.devtools("Page.captureScreenshot", asked).await;
    let bytes = STANDARD.decode(taken["data"].as_str().unwrap()).unwrap();
    std::fs::create_dir_all(&folder).unwrap();
    let file = format!("{name}-{}-{}.webp", screen.word(), colours.word());
    std::fs::write(folder.join(file), bytes).unwrap();
}
