//! Waiting for something that comes by itself.

use std::time::Duration;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);
/// About two minutes. Looks are counted and not time, so that a test whose clock stands still waits as long.
const MOST_LOOKS: u32 = 24_000;

/// Looks again and again until something is found. What never comes fails the test under the name of `what`.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..MOST_LOOKS {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(PAUSE).await;
    }
    panic!("waited for {what}, and it did not come");
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
