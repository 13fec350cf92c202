//! Live updates, and the person who is doing something meanwhile.

use super::{Scripts, World};
use serde_json::json;

/// A page that comes back asks for itself anew, as each live update does, and hears that the session has ended.
/// `meanwhile` runs while that answer is under way, `after` once it is here. Answers whether the page loads itself again.
async fn reloads(meanwhile: &str, after: &str) -> bool {
    let world = World::start().await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/").await;
    let script = format!(
        "const done = arguments[0], ask = window.fetch.bind(window);
         addEventListener('beforeunload', () => done(true));
         window.fetch = async () => {{
             {meanwhile}
             setTimeout(async () => {{ {after} }});
             return {{ type: 'opaqueredirect' }};
         }};
         dispatchEvent(new PageTransitionEvent('pageshow', {{ persisted: true }}));"
    );
    browser.run_async(&script).await == json!(true)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_whose_session_has_ended_loads_itself_again() {
    assert!(reloads("", "").await);
}

/// Else the reload would cancel the way to the form's own answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_updates_never_overtake_a_form_that_was_sent() {
    let form_is_sent = "document.querySelector('form')
         .dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));";
    // Ample for a load that was asked for to begin.
    let look_long = "for (let i = 0; i < 50; i++) await ask('/healthz');
         done(false);";
    assert!(!reloads(form_is_sent, look_long).await);
}
