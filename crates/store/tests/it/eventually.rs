//! Waiting for something that comes by itself. As in `testkit`, which stands on the store and cannot be used here.

use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(20);
/// About two minutes. Looks are counted and not time: a test's clock may stand still.
const MOST_LOOKS: u32 = 6_000;

/// Looks again and again until something is found. What never comes fails the test under the name of `what`.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..MOST_LOOKS {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("waited for {what}, and it did not come")
}

/// The same for something that is so or not.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    eventually(what, async || is_so().await.then_some(())).await;
}
