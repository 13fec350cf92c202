//! How large a test is: as the issue names it with `WAYPOST_TEST_SIZE=soak`, smaller otherwise.

pub fn pick<T>(ci: T, soak: T) -> T {
    let full = std::env::var("WAYPOST_TEST_SIZE").is_ok_and(|size| size == "soak");
    if full { soak } else { ci }
}
