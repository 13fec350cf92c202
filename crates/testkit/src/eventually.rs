//! Waiting for something that comes by itself.

use std::time::Duration;

/// Between two looks, while it may come any moment.
const PAUSE: Duration = Duration::from_millis(5);
/// After so many it takes long, and is not asked for as often: a look may cost something.
const QUICK_LOOKS: u32 = 200;
const LONG_PAUSE: Duration = Duration::from_millis(50);
/// About three minutes. Looks are counted and not time, so that a test whose clock stands still waits as long.
const MOST_LOOKS: u32 = 3_800;

/// Looks again and again until something is found. What never comes fails the test under the name of `what`.
pub async fn eventually<T>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    match seen_in_time(look).await {
        Some(found) => found,
        None => panic!("waited for {what}, and it did not come"),
    }
}

/// The same for something that is so or not.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    eventually(what, async || is_so().await.then_some(())).await;
}

/// The same for somebody who has more to say than a name when it never comes: none then.
pub async fn seen_in_time<T>(mut look: impl AsyncFnMut() -> Option<T>) -> Option<T> {
    for looks in 0..MOST_LOOKS {
        if let Some(found) = look().await {
            return Some(found);
        }
        let pause = if looks < QUICK_LOOKS { PAUSE } else { LONG_PAUSE };
        tokio::time::sleep(pause).await;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_comes_late_is_found() {
        let mut looks = 0;
        let found = eventually("the third look", async || {
            looks += 1;
            (looks == 3).then_some(looks)
        });
        assert_eq!(found.await, 3);
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "waited for a train")]
    async fn what_never_comes_is_named() {
        eventually("a train", async || None::<()>).await;
    }
}
