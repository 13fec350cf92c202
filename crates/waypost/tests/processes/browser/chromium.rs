//! A Chromium of its own for each test, driven through its driver. Everything waits for what it needs; nothing sleeps
//! for luck.

use super::{LOOK_AGAIN, PAGE_TIMEOUT, driver::DriverProcess, until};
use fantoccini::{
    Client, ClientBuilder, Locator,
    actions::{InputSource, KeyAction, KeyActions},
    elements::Element,
    error::{CmdError, ErrorStatus},
    key::Key,
    wd::WebDriverCompatibleCommand,
};
use hyper::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::{path::Path, time::Duration};
use url::Url;

/// The same engine without windows, menus and all that belongs to them: a test takes a third of the processor time.
const PROGRAM: &str = "/usr/lib/chromium/chromium-headless-shell";

/// What its driver knows it by; by another name it waits for a window.
const NAME: &str = "chrome-headless-shell";

const ARGUMENTS: [&str; 11] = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
    "--lang=en-GB",
    "--window-size=1280,900",
];

/// How long test code in a page may take.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(180);

/// What is over by itself when the page has settled.
const PASSING: [ErrorStatus; 4] = [
    ErrorStatus::NoSuchElement,
    ErrorStatus::StaleElementReference,
    ErrorStatus::ElementNotInteractable,
    ErrorStatus::ElementClickIntercepted,
];

/// A command of Chromium's own protocol, by way of its driver.
#[derive(Debug)]
struct DevTools {
    method: String,
    params: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!(
            "session/{}/goog/cdp/execute",
            session.unwrap_or_default()
        ))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        let body = json!({ "cmd": self.method, "params": self.params });
        (Method::POST, Some(body.to_string()))
    }
}

/// Whether pages may run script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scripts {
    On,
    Off,
}

/// Ends with its Chromium when dropped.
pub struct Browser {
    driver: Client,
    base: String,
    pub scripts: Scripts,
    _process: DriverProcess,
}

/// A Chromium that has begun. Its driver gives it up when it does not begin in time, which a busy machine may do to one.
async fn session(folder: &Path) -> (Client, DriverProcess) {
    let mut said = vec![];
    for _ in 0..5 {
        let profile = tempfile::tempdir_in(folder).unwrap().keep();
        let (process, address) = DriverProcess::start(&profile);
        let profile = format!("--user-data-dir={}", profile.display());
        let arguments: Vec<_> = ARGUMENTS.into_iter().chain([profile.as_str()]).collect();
        let wanted = json!({
            "browserName": NAME, "goog:chromeOptions": { "binary": PROGRAM, "args": arguments },
            // The longest page is looked through on a machine that does other things as well.
            "timeouts": { "script": SCRIPT_TIMEOUT.as_millis() as u64 },
        });
        let begun = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted.as_object().cloned().unwrap())
            .connect(&address)
            .await;
        match begun {
            Ok(driver) => return (driver, process),
            Err(error) => said.push(error.to_string()),
        }
    }
    panic!("no Chromium begins: {said:?}");
}

impl Browser {
    /// `folder` is for its profile and all else it writes, `base` is where the console is.
    pub async fn start(folder: &Path, base: &str, scripts: Scripts) -> Self {
        let (driver, process) = session(folder).await;
        let browser = Self {
            driver,
            base: base.trim_end_matches('/').to_owned(),
            scripts,
            _process: process,
        };
        let off = json!({ "value": scripts == Scripts::Off });
        browser
            .devtools("Emulation.setScriptExecutionDisabled", off)
            .await;
        browser
    }

    pub async fn devtools(&self, method: &str, params: Value) -> Value {
        let command = DevTools {
            method: method.to_owned(),
            params,
        };
        let answer = self.driver.issue_cmd(command).await;
        answer.unwrap_or_else(|e| panic!("{method}: {e}"))
    }

    /// Runs test code in the page, whether or not the page itself may run any.
    pub async fn run(&self, script: &str) -> Value {
        self.ran(self.driver.execute(script, vec![]).await).await
    }

    /// The same for code that answers later, by calling its last argument.
    pub async fn run_async(&self, script: &str) -> Value {
        self.ran(self.driver.execute_async(script, vec![]).await).await
    }

    /// What test code answered. Where it failed, the page tells why: it may be another than the test thinks.
    async fn ran(&self, answered: Result<Value, CmdError>) -> Value {
        match answered {
            Ok(value) => value,
            Err(error) => panic!(
                "{error} at {}; the page:\n{}",
                self.place().await,
                self.text("body").await.unwrap_or_default()
            ),
        }
    }

    /// The words of what has the focus, one after the other, until it leaves the page or comes round.
    pub async fn tab_through(&self) -> Vec<String> {
        let mut reached = vec![];
        for _ in 0..200 {
            let tab = KeyActions::new("keyboard".into())
                .then(KeyAction::Down {
                    value: Key::Tab.into(),
                })
                .then(KeyAction::Up {
                    value: Key::Tab.into(),
                });
            self.driver.perform_actions(tab).await.unwrap();
            let focus = self.run("return document.activeElement.textContent.trim()").await;
            let focus = focus.as_str().unwrap_or_default().to_owned();
            if reached.first() == Some(&focus) {
                break;
            }
            reached.push(focus);
        }
        reached
    }

    /// Opens a page by its path. It is there when this returns: where the page before was still loading, its driver may take the end
    /// of that for the end of this.
    pub async fn open(&self, path: &str) {
        self.run("window.beforeOpen = true").await;
        self.driver.goto(&format!("{}{path}", self.base)).await.unwrap();
        let there = "return window.beforeOpen === undefined && document.readyState === 'complete'";
        until(&format!("{path} to be opened"), async || {
            // Between two pages there is none that could answer.
            let answer = self.driver.execute(there, vec![]).await;
            answer.is_ok_and(|is_there| is_there == true)
        })
        .await;
    }

    pub async fn reload(&self) {
        self.driver.refresh().await.unwrap();
    }

    /// Opens a page in a tab of its own, which is looked at from now on.
    pub async fn open_beside(&self, path: &str) {
        let tab = self.driver.new_window(true).await.unwrap();
        self.driver.switch_to_window(tab.handle).await.unwrap();
        self.open(path).await;
    }

    /// Looks at a tab again, counted from the first.
    pub async fn look_at_tab(&self, place: usize) {
        let tabs = self.driver.windows().await.unwrap();
        self.driver.switch_to_window(tabs[place].clone()).await.unwrap();
    }

    /// Path and query of where it is.
    pub async fn place(&self) -> String {
        let url = self.driver.current_url().await.unwrap();
        url.as_str()[url.origin().ascii_serialization().len()..].to_owned()
    }

    /// What can be read there now, if there is such an element.
    pub async fn text(&self, css: &str) -> Option<String> {
        let found = self.driver.find(Locator::Css(css)).await.ok()?;
        found.text().await.ok()
    }

    pub async fn attribute(&self, css: &str, name: &str) -> Option<String> {
        let found = self.driver.find(Locator::Css(css)).await.ok()?;
        found.attr(name).await.ok().flatten()
    }

    pub async fn count(&self, css: &str) -> usize {
        let found = self.driver.find_all(Locator::Css(css)).await;
        found.map_or(0, |all| all.len())
    }

    pub async fn source(&self) -> String {
        self.driver.source().await.unwrap()
    }

    /// Waits until the text stands there.
    pub async fn shows(&self, css: &str, text: &str) {
        let deadline = tokio::time::Instant::now() + PAGE_TIMEOUT;
        loop {
            let shown = self.text(css).await;
            if shown.as_deref().is_some_and(|shown| shown.contains(text)) {
                return;
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "{css} should show {text:?} at {} and shows {shown:?}; the page:\n{}",
                self.place().await,
                self.text("body").await.unwrap_or_default()
            );
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Waits until the text stands there: by itself where the page is live, by reloading where it cannot be.
    pub async fn comes_to_show(&self, css: &str, text: &str) {
        if self.scripts == Scripts::On {
            return self.shows(css, text).await;
        }
        until(&format!("{css} to show {text:?}"), async || {
            self.reload().await;
            self.text(css).await.is_some_and(|shown| shown.contains(text))
        })
        .await;
    }

    pub async fn shows_nothing_at(&self, css: &str) {
        until(&format!("{css} to be gone"), async || self.count(css).await == 0).await;
    }

    pub async fn is_at(&self, path: &str) {
        let deadline = tokio::time::Instant::now() + PAGE_TIMEOUT;
        loop {
            let place = self.place().await;
            if place == path {
                return;
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "should be at {path} and is at {place}; the page:\n{}",
                self.text("body").await.unwrap_or_default()
            );
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    pub async fn click(&self, css: &str) {
        self.with(css, async |element| element.click().await).await;
    }

    pub async fn fill(&self, css: &str, text: &str) {
        self.with(css, async |element| {
            element.clear().await?;
            element.send_keys(text).await
        })
        .await;
    }

    /// Does something with an element once it is there and can be used; a live page may replace it meanwhile.
    async fn with(&self, css: &str, act: impl AsyncFn(&Element) -> Result<(), CmdError>) {
        let deadline = tokio::time::Instant::now() + PAGE_TIMEOUT;
        loop {
            let done = match self.driver.find(Locator::Css(css)).await {
                Ok(element) => act(&element).await,
                Err(error) => Err(error),
            };
            let error = match done {
                Ok(()) => return,
                Err(error) => error,
            };
            let passes = matches!(&error, CmdError::Standard(e) if PASSING.contains(&e.error));
            assert!(
                passes && tokio::time::Instant::now() < deadline,
                "cannot use {css} at {}: {error}; the page:\n{}",
                self.place().await,
                self.text("body").await.unwrap_or_default()
            );
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}
