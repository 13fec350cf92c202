//! `bookings DATABASE COMMAND`; README.md beside this says which.

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    println!("{}", bookings::run(&words).await?);
    Ok(())
}
