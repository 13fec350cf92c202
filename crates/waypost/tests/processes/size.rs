//! How much of everything.

/// `ci` or the full size.
pub fn pick<T>(ci: T, soak: T) -> T {
    let full = std::env::var("WAYPOST_TEST_SIZE").is_ok_and(|size| size == "soak");
    if full { soak } else { ci }
}
