//! Live updates, and the person who is doing something meanwhile.

use super::{Scripts, World};
use serde_json::json;

/// Asks for the page anew as a live update does, and says that the session has ended. `meanwhile` runs while the answer
/// is under way. Answers whether the page then went to load itself again.
async fn reloads(meanwhile: &str) -> bool {
    let world = World::start().await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/").await;
    let script = format!(
        "const done = arguments[0];
         const ask = window.fetch.bind(window);
         let answer;
         window.fetch = () => new Promise((resolve) => {{ answer = resolve; }});
         leave(); stayed();
         let reloading = false;
         addEventListener('beforeunload', () => {{ reloading = true; done(true); }});
         const refreshed = refresh();
         {meanwhile}
         answer({{ type: 'opaqueredirect' }});
         // A load that was asked for has begun, and ended this script, before another answer is here.
         refreshed.then(() => ask('/healthz')).then(() => done(reloading), () => done(reloading));"
    );
    browser.run_async(&script).await == json!(true)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_whose_session_has_ended_loads_itself_again() {
    assert!(reloads("").await);
}

/// Else the reload would cancel the way to the form's own answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_updates_never_overtake_a_form_that_was_sent() {
    let sent = "document.querySelector('form')
         .dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));";
    assert!(!reloads(sent).await);
}
