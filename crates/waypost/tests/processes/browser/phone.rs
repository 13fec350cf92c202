//! In a hand: what explains a failure is seen without moving the page sideways, and what is touched is large enough.

use super::{
    Browser, Scripts,
    camera::{Colours, Screen, prefer},
    furnished::Furnished,
};
use serde_json::Value;

/// What of a page says why something failed, in words, and is not wholly inside the screen's width.
const REASONS_OUTSIDE: &str = "const wide = document.documentElement.clientWidth;\
    return [...document.querySelectorAll('.far-end, .far-end-inline, .last-error, .reason, .state, #waiting, td code, .sub')]\
      .filter((one) => one.getClientRects().length)\
      .map((one) => [one.textContent.trim(), one.getBoundingClientRect()])\
      .filter(([, at]) => at.left < 0 || at.right > wide + 0.5)\
      .map(([words, at]) => `${words} (${at.left} to ${at.right})`);";

/// What can be touched and is smaller than a fingertip. Links within a sentence are exempt, as everywhere.
const SMALL_TARGETS: &str = "return [...document.querySelectorAll('button, .button, summary, select, input:not([type=hidden]):not([type=checkbox]):not([type=radio]), .pill, .tick, nav a, .chips a, .crumbs a, td.subject a')]\
      .filter((one) => one.getClientRects().length && !one.closest('.visually-hidden'))\
      .map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])\
      .filter(([, at]) => at.height < 43.5)\
      .map(([html, at]) => `${html} is ${at.height} px high`);";

/// What a button asks before it acts, opened one after the other, and does not fit the screen's width.
const QUESTIONS_OUTSIDE: &str = "const wide = document.documentElement.clientWidth, wrong = [];\
    for (const one of document.querySelectorAll('details.confirm, details.all-match, details.who')) {\
      one.open = true;\
      const at = one.querySelector('.pop, .who-menu').getBoundingClientRect();\
      if (at.left < 0 || at.right > wide + 0.5 || document.documentElement.scrollWidth > wide)\
        wrong.push(`${one.querySelector('summary').textContent.trim()} (${at.left} to ${at.right})`);\
      one.open = false;\
    }\
    return wrong;";

/// Fields that are too narrow to tell what goes into them.
const HINTS_CUT: &str = "const pen = document.createElement('canvas').getContext('2d');\
    return [...document.querySelectorAll('.filter-main input[placeholder]:not([name=q])')]\
      .filter((one) => one.getClientRects().length)\
      .map((one) => { const style = getComputedStyle(one); pen.font = `${style.fontSize} ${style.fontFamily}`;\
        return [one.placeholder, pen.measureText(one.placeholder).width, one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)]; })\
      .filter(([, needed, wide]) => needed > wide)\
      .map(([words, needed, wide]) => `${words} needs ${needed} px and has ${wide}`);";

async fn found(browser: &Browser, script: &str) -> Vec<String> {
    let found = browser.run(script).await;
    let all = found.as_array().cloned().unwrap_or_default();
    all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reason_is_off_the_screen_and_no_target_is_small() {
    let furnished = Furnished::start().await;
    let browser = furnished.world.signed_in(Scripts::On).await;
    prefer(&browser, Colours::Light, Screen::Phone).await;
    let mut wrong = vec![];
    for page in furnished.pages() {
        browser.open(&page.path).await;
        for (script, what) in [
            (REASONS_OUTSIDE, "off the screen"),
            (SMALL_TARGETS, "small"),
            (QUESTIONS_OUTSIDE, "a question off the screen"),
            (HINTS_CUT, "cut"),
        ] {
            let all = found(&browser, script).await;
            wrong.extend(all.into_iter().map(|one| format!("{}: {what}: {one}", page.name)));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} findings:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_screen_of_the_list_says_what_failed_why_and_when() {
    let furnished = Furnished::start().await;
    let browser = furnished.world.signed_in(Scripts::On).await;
    prefer(&browser, Colours::Light, Screen::Phone).await;
    browser.open("/notifications?status=Parked").await;
    for part in [".state", ".subject", ".reason", ".when"] {
        let script = format!(
            "const one = document.querySelector('#notifications tbody tr {part}'), at = one.getBoundingClientRect();\
             const seen = document.elementFromPoint((at.left + at.right) / 2, (at.top + at.bottom) / 2);\
             return at.height > 0 && at.bottom <= window.innerHeight && at.right <= window.innerWidth && one.contains(seen);"
        );
        assert_eq!(browser.run(&script).await, true, "{part} is on the first screen");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_screen_of_the_audit_log_shows_what_happened_and_not_only_its_filters() {
    let furnished = Furnished::start().await;
    let browser = furnished.world.signed_in(Scripts::On).await;
    prefer(&browser, Colours::Light, Screen::Phone).await;
    browser.open("/audit").await;
    let seen = "const at = document.querySelector('#audit tbody tr').getBoundingClientRect();\
                return at.height > 0 && at.bottom <= window.innerHeight;";
    assert_eq!(
        browser.run(seen).await,
        true,
        "the first row is on the first screen"
    );
    let shown = "return document.querySelector('#actor').checkVisibility();";
    assert_eq!(
        browser.run(shown).await,
        false,
        "the other filters are folded away"
    );
}
