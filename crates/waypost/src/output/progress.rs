//! Progress bars, on standard error, and only where somebody can see them move.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over so many things.
pub fn bar(total: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(total).with_message(what.to_owned());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {per_sec} {eta}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}
