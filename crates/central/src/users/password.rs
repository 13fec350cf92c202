//! Passwords: checked for length, hashed with argon2id, compared in constant time. Never kept, logged or answered.

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc},
};
use std::sync::LazyLock;
use store::users::PasswordHash;
use tokio::sync::Semaphore;

/// In characters.
pub const MIN_CHARS: usize = 10;
/// In bytes: hashing a megabyte to refuse it would be work for nothing.
pub const MAX_BYTES: usize = 1024;

/// Each takes 19 MiB and tens of milliseconds: a flood of sign-ins must not take the node down.
static TURNS: Semaphore = Semaphore::const_new(2);

/// What the password of a name that nobody has is compared with, so that it takes as long.
static NOBODY: LazyLock<Option<PasswordHash>> = LazyLock::new(|| hash_now("a name that nobody has"));

/// What is wrong with a password that somebody wants to have.
pub fn problem(text: &str) -> Option<String> {
    if text.chars().count() < MIN_CHARS {
        return Some(format!("must have at least {MIN_CHARS} characters"));
    }
    (text.len() > MAX_BYTES).then(|| format!("must have at most {MAX_BYTES} bytes"))
}

/// None only if the machine has no randomness.
pub async fn hash(text: &str) -> Option<PasswordHash> {
    let text = text.to_owned();
    let _turn = TURNS.acquire().await.ok()?;
    tokio::task::spawn_blocking(move || hash_now(&text)).await.ok()?
}

fn hash_now(text: &str) -> Option<PasswordHash> {
    let hash = Argon2::default().hash_password(text.as_bytes()).ok()?;
    Some(PasswordHash(hash.to_string()))
}

/// Whether the text is the password; without a hash the answer is no, after the same time.
pub async fn is(text: &str, kept: Option<&PasswordHash>) -> bool {
    if text.len() > MAX_BYTES {
        return false;
    }
    let (text, kept) = (text.to_owned(), kept.cloned());
    let Ok(_turn) = TURNS.acquire().await else {
        return false;
    };
    let compare = move || {
        let known = kept.is_some();
        let hash = compared_with(kept);
        let matches = phc::PasswordHash::new(&hash.0)
            .is_ok_and(|hash| Argon2::default().verify_password(text.as_bytes(), &hash).is_ok());
        known && matches
    };
    tokio::task::spawn_blocking(compare).await.unwrap_or(false)
}

/// What a password is compared with when there is none to compare it with takes as long.
fn compared_with(kept: Option<PasswordHash>) -> PasswordHash {
    // Made by the first who asks, whoever that is: the time it takes must not tell one name from another.
    let nobody = NOBODY.clone();
    kept.or(nobody).unwrap_or(PasswordHash(String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_that_nobody_has_costs_the_same_work_as_one_that_exists() {
        let somebody = hash("correct horse battery").await.unwrap();
        let (kept, nobody) = (compared_with(Some(somebody.clone())), compared_with(None));
        assert_eq!(kept.0, somebody.0);
        let (kept, nobody) = (read(&kept), read(&nobody));
        assert_eq!(nobody.algorithm, kept.algorithm);
        assert_eq!(nobody.params, kept.params, "as much memory, as many rounds");
        assert_eq!(nobody.hash.map(|h| h.len()), kept.hash.map(|h| h.len()));
    }

    fn read(hash: &PasswordHash) -> phc::PasswordHash {
        phc::PasswordHash::new(&hash.0).unwrap()
    }

    #[tokio::test]
    async fn only_the_password_itself_opens() {
        let kept = hash("correct horse battery").await.unwrap();
        assert!(kept.0.starts_with("$argon2id$"));
        assert!(is("correct horse battery", Some(&kept)).await);
        assert!(!is("correct horse batterx", Some(&kept)).await);
        assert!(!is("correct horse battery", None).await);
        assert!(!is("x", Some(&PasswordHash("no hash".into()))).await);
    }

    #[test]
    fn a_short_password_is_refused_in_words() {
        assert!(problem("ünïcödé99").unwrap().contains("at least 10"));
        assert_eq!(problem("ünïcödé999"), None);
        assert!(problem(&"x".repeat(MAX_BYTES + 1)).is_some());
    }
}
