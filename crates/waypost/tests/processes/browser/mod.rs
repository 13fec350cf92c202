//! The console in a real browser, against a real `waypost serve`: what the page says is what the store holds. Journeys
//! are made twice, with script and without, because the console promises to work without.
//!
//! Needs Chromium, its driver, and axe-core's file in `WAYPOST_TEST_AXE`; `scripts/test` installs them.
//! With `WAYPOST_SCREENSHOTS=FOLDER` (as seen from the top of the repository) every page is also pictured there.

mod acting;
mod axe;
mod bulk;
mod camera;
mod charts;
mod chromium;
mod demo;
mod docs;
mod driver;
mod events;
mod failover;
mod furnished;
mod lanes;
mod lists;
mod live;
mod markup;
mod new_rows;
mod notifications;
mod openid;
mod pages;
mod past;
mod phone;
mod providers;
mod sign_in;
mod sites;
mod templates;
mod times;
mod world;

pub use chromium::{Browser, Scripts};
pub use testkit::until;
pub use world::World;

use std::time::Duration;

/// How long anything may take on a machine that does other things as well.
const PAGE_TIMEOUT: Duration = Duration::from_secs(180);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Each journey as two tests.
macro_rules! with_and_without_script {
    ($($journey:ident),* $(,)?) => {
        mod with_script {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $journey() {
                super::$journey(crate::browser::Scripts::On).await;
            }
        )*}
        mod without_script {$(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $journey() {
                super::$journey(crate::browser::Scripts::Off).await;
            }
        )*}
    };
}
pub(crate) use with_and_without_script;
