//! Live updates, and the person who is doing something meanwhile.

use super::{Scripts, World};
use domain::Status;
use serde_json::json;

/// A page that comes back asks for itself anew, as each live update does, and hears that the session has ended.
/// `meanwhile` runs while that answer is under way, `after` once it is here. Answers whether the page loads itself again.
async fn reloads(meanwhile: &str, after: &str) -> bool {
    let world = World::start().await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/").await;
    let script = format!(
        "const done = arguments[0], ask = window.fetch.bind(window);
         addEventListener('beforeunload', (event) => {{ if (event.isTrusted) done(true); }});
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

const FORM_IS_SENT: &str = "document.querySelector('form')
     .dispatchEvent(new SubmitEvent('submit', { bubbles: true, cancelable: true }));";
/// Ample for a load that was asked for to begin.
const LOOK_LONG: &str = "for (let i = 0; i < 50; i++) await ask('/healthz');
     done(false);";

/// Else the reload would cancel the way to the form's own answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_updates_never_overtake_a_form_that_was_sent() {
    assert!(!reloads(FORM_IS_SENT, LOOK_LONG).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_updates_stop_when_the_page_is_being_left() {
    for left in ["new Event('beforeunload')", "new PageTransitionEvent('pagehide')"] {
        let being_left = format!("dispatchEvent({left});");
        assert!(!reloads(&being_left, LOOK_LONG).await, "{left}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn showing_new_rows_never_overtakes_a_form_that_was_sent() {
    let world = World::start().await;
    let first = world.submit(World::undeliverable("was here before")).await;
    world.comes_to_be(first, Status::Parked).await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/notifications").await;
    // The rows are asked for and do not come before the form is sent, which gives the question up.
    let script = format!(
        "const done = arguments[0], ask = window.fetch.bind(window);
         addEventListener('beforeunload', (event) => {{ if (event.isTrusted) done(true); }});
         window.fetch = (place, {{ signal }}) => new Promise((_, fail) =>
             signal.addEventListener('abort', () => fail(signal.reason)));
         document.querySelector('#news a').click();
         {FORM_IS_SENT}
         setTimeout(async () => {{ {LOOK_LONG} }});"
    );
    assert_eq!(browser.run_async(&script).await, json!(false));
}

/// The stream speaks only as the test says: `streamed` is what the page does about each kind of event.
const STREAM_IN_HAND: &str = "window.streamed = {};
     window.EventSource = class extends EventSource {
         addEventListener(name, act) {
             if (name === 'kpis') super.addEventListener(name, act); else streamed[name] = act;
         }
     };";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_right_again_after_changes_that_were_not_told_one_by_one() {
    let world = World::start().await;
    let mut ids = vec![];
    for subject in ["stream begins", "too much", "cannot be asked", "has the focus"] {
        let id = world.submit(World::undeliverable(subject)).await;
        world.comes_to_be(id, Status::Parked).await;
        ids.push(id);
    }
    let browser = world.signed_in(Scripts::On).await;
    let in_hand = json!({ "source": STREAM_IN_HAND });
    browser
        .devtools("Page.addScriptToEvaluateOnNewDocument", in_hand)
        .await;
    browser.open("/notifications").await;
    let changes = async |place: usize, meanwhile: &str| {
        let id = ids[place];
        world.node.client.discard(id).await.unwrap();
        let script =
            format!("const change = {{ data: JSON.stringify({{ notificationId: '{id}' }}) }}; {meanwhile}");
        browser.run(&script).await;
        browser.shows(&format!("#n-{id} .state"), "Discarded").await;
    };
    changes(0, "streamed.open();").await;
    changes(1, "streamed.missed();").await;
    let first_fails = "const ask = window.fetch.bind(window);
         window.fetch = (place, how) => {
             if (!String(place).startsWith('/notifications/rows')) return ask(place, how);
             window.fetch = ask;
             return Promise.reject(new TypeError());
         };
         streamed.change(change);";
    changes(2, first_fails).await;
    let row = format!("#n-{} input[name=id]", ids[3]);
    browser.click(&format!("#n-{} label.tick", ids[3])).await;
    changes(3, "streamed.change(change);").await;
    let kept = format!(
        "const box = document.querySelector('{row}'); return box.checked && box === document.activeElement"
    );
    assert_eq!(
        browser.run(&kept).await,
        json!(true),
        "what is in use stays in use"
    );
}
