//! The figures of a chart under pointer and finger, while the chart is drawn anew every few seconds.

use super::{Browser, Scripts, World, until};

/// A step of the first chart that stays for a while, pointed at.
const POINT: &str = "const step = document.querySelectorAll('.chart a')[50];\
    window.place = step.getAttribute('href');\
    step.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));\
    return step.dataset.value;";
/// The same step touched; whether the browser would go where it leads. It is kept from going.
const TOUCH: &str = "const step = [...document.querySelectorAll('.chart a')].find((one) => one.getAttribute('href') === window.place);\
    let goes = null;\
    addEventListener('click', (event) => { goes = !event.defaultPrevented; event.preventDefault(); }, { once: true });\
    step.dispatchEvent(new PointerEvent('click', { bubbles: true, cancelable: true, pointerType: 'touch' }));\
    return goes;";

/// Waits for the charts to be drawn anew, as they are every few seconds.
async fn drawn_anew(browser: &Browser) {
    browser
        .run("document.getElementById('charts').dataset.old = 'yes'; return true")
        .await;
    until("the charts to be drawn anew", async || {
        let fresh = "return document.getElementById('charts').dataset.old === undefined";
        browser.run(fresh).await == true
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_figure_of_a_step_outlasts_a_new_drawing_and_the_second_touch_opens_its_list() {
    let world = World::start().await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/").await;
    let said = browser.run(POINT).await;
    drawn_anew(&browser).await;
    let shown = "return document.querySelector('.chart-value').textContent";
    assert_eq!(browser.run(shown).await, said);
    assert_eq!(browser.run(TOUCH).await, false, "the first touch only shows");
    drawn_anew(&browser).await;
    assert_eq!(browser.run(TOUCH).await, true, "the second goes there");
    // For fingers that do not hit the same few pixels twice, the figure leads there too.
    browser.click(".chart-value a").await;
    browser.shows(".chips", "From: ").await;
}
