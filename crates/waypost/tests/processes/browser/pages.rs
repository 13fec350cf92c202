//! Every page: fit for those who see badly or use no mouse, in light and in dark, on a desk and in a hand.

use super::{
    Browser, Scripts, World, axe,
    camera::{Colours, Screen, picture, prefer},
    furnished::Furnished,
};
use serde_json::Value;

/// Tables of which something is seen only by moving them sideways.
const COLUMNS_OUTSIDE: &str = "return [...document.querySelectorAll('.scroll')]\
      .filter((one) => one.scrollWidth > one.clientWidth + 1)\
      .map((one) => `${one.getAttribute('aria-label') || one.getAttribute('aria-labelledby')}: ${one.scrollWidth} of ${one.clientWidth} px`);";

/// What is wrong with pages, gathered so that one run names everything.
#[derive(Default)]
struct Findings(Vec<String>);

struct Inspector {
    axe: String,
    findings: Findings,
}

impl Inspector {
    fn new() -> Self {
        Self {
            axe: axe::source(),
            findings: Findings::default(),
        }
    }

    /// Looks at the page as it is, in every light and size. `open` brings it back.
    async fn inspect(&mut self, browser: &Browser, name: &str, open: impl AsyncFn(&Browser)) {
        for screen in Screen::ALL {
            for colours in Colours::ALL {
                prefer(browser, colours, screen).await;
                open(browser).await;
                let here = format!("{name} ({colours:?}, {screen:?})");
                let wrong = axe::violations(browser, &self.axe).await;
                self.findings
                    .0
                    .extend(wrong.into_iter().map(|what| format!("{here}: {what}")));
                let too_wide = browser
                    .run("return document.documentElement.scrollWidth > document.documentElement.clientWidth")
                    .await;
                if too_wide == true {
                    self.findings.0.push(format!("{here}: wider than the screen"));
                }
                let hidden = browser.run(COLUMNS_OUTSIDE).await;
                let hidden = hidden.as_array().cloned().unwrap_or_default();
                let hidden = hidden.iter().filter_map(Value::as_str);
                self.findings
                    .0
                    .extend(hidden.map(|table| format!("{here}: columns out of sight: {table}")));
                picture(browser, name, colours, screen).await;
            }
        }
    }

    #[track_caller]
    fn has_found_nothing(&self) {
        let all = &self.findings.0;
        assert!(all.is_empty(), "{} findings:\n{}", all.len(), all.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_accessible_and_fits_the_screen_in_light_and_dark() {
    let furnished = Furnished::start().await;
    let mut inspector = Inspector::new();
    let browser = furnished.world.signed_in(Scripts::On).await;
    for page in furnished.pages() {
        inspector
            .inspect(&browser, page.name, async |browser| {
                browser.open(&page.path).await
            })
            .await;
    }
    inspector
        .inspect(&browser, "bulk-confirm", async |browser| {
            furnished.ask_in_bulk(browser).await
        })
        .await;
    for (name, list) in [
        ("events-replay", "/events"),
        ("schedules-replay", "/schedules?status=Failed"),
    ] {
        inspector
            .inspect(&browser, name, async |browser| {
                furnished.ask_to_replay(browser, list).await
            })
            .await;
    }
    prefer(&browser, Colours::Light, Screen::Desktop).await;
    furnished.ask_in_bulk(&browser).await;
    browser.click("#confirm-yes").await;
    browser.shows("#job .states", "Done").await;
    let job = browser.place().await;
    inspector
        .inspect(&browser, "job", async |browser| browser.open(&job).await)
        .await;
    browser.open("/providers/mail").await;
    browser.fill("#test-to", "crew@plant.example").await;
    browser.click("#send-test").await;
    browser.shows("#tested", "It works.").await;
    let test = browser.place().await;
    inspector
        .inspect(&browser, "provider-test", async |browser| {
            browser.open(&test).await
        })
        .await;
    let ops = furnished.ops(Scripts::On).await;
    ops.open("/tenants").await;
    ops.fill("#new-tenant #name", "harbour").await;
    ops.click("#new-tenant button").await;
    ops.shows("#tenants", "harbour").await;
    inspector
        .inspect(&ops, "tenants", async |browser| browser.open("/tenants").await)
        .await;
    let stranger = furnished.world.browser(Scripts::On).await;
    inspector
        .inspect(&stranger, "sign-in", async |browser| {
            browser.open("/sign-in").await
        })
        .await;
    inspector.has_found_nothing();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn empty_pages_are_accessible_and_say_what_to_do_next() {
    let world = World::start().await;
    world.node.client.delete_provider("hook").await.unwrap();
    let browser = world.signed_in(Scripts::On).await;
    let mut inspector = Inspector::new();
    for (path, next) in [
        ("/", "Add a provider"),
        ("/notifications", "Send a message"),
        ("/sites", "Add a site"),
        ("/providers", "Add"),
        ("/lists", "Make the first one"),
        ("/templates", "Make the first one"),
        ("/events", "No events yet"),
        ("/schedules", "No schedules yet"),
        ("/communications", "What was a guest told?"),
        (
            "/communications?entityType=booking&entityId=1",
            "Nothing was sent",
        ),
        ("/suppressions", "Everybody may be written to"),
    ] {
        browser.open(path).await;
        browser.shows("#main", next).await;
        let wrong = axe::violations(&browser, &inspector.axe).await;
        inspector
            .findings
            .0
            .extend(wrong.into_iter().map(|what| format!("{path}: {what}")));
    }
    inspector.has_found_nothing();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_on_a_page_is_reached_by_keyboard() {
    let world = World::start().await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/lists").await;
    let reached = browser.tab_through().await;
    for wanted in ["Skip to the content", "Overview", "Make it"] {
        assert!(
            reached.iter().any(|text| text == wanted),
            "{wanted} in {reached:?}"
        );
    }
}
