use super::*;
use crate::smtp::{session::Capabilities, wire::Wire};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
    time::advance,
};

fn session() -> (Session, DuplexStream) {
    let (near, far) = tokio::io::duplex(64);
    let session = Session {
        wire: Wire::new(Box::new(near)),
        capabilities: Capabilities::default(),
        born: Instant::now(),
        used: 1,
    };
    (session, far)
}

#[tokio::test(start_paused = true)]
async fn the_session_used_last_is_used_next() {
    let pool = Pool::default();
    let (first, _far) = session();
    let (second, _far_too) = session();
    pool.put(first);
    pool.put(Session { used: 7, ..second });
    assert_eq!(pool.take().map(|s| s.used), Some(7));
    assert_eq!(pool.take().map(|s| s.used), Some(1));
    assert!(pool.take().is_none());
}

#[tokio::test(start_paused = true)]
async fn sessions_that_spoke_or_closed_while_idle_are_not_handed_out() {
    let pool = Pool::default();
    let (spoke, mut far) = session();
    let (closed, gone) = session();
    pool.put(spoke);
    pool.put(closed);
    far.write_all(b"421 4.4.2 bye\r\n").await.unwrap();
    drop(gone);
    assert!(pool.take().is_none());
}

#[tokio::test(start_paused = true)]
async fn worn_out_sessions_are_closed_instead_of_kept() {
    let pool = Pool::default();
    let (session, mut far) = session();
    pool.put(Session {
        used: MAX_MAILS_PER_SESSION,
        ..session
    });
    assert!(pool.take().is_none());
    let mut said = String::new();
    far.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "QUIT\r\n");
}

#[tokio::test(start_paused = true)]
async fn idle_sessions_are_closed_even_if_nobody_comes_back() {
    let pool = Pool::default();
    let (session, mut far) = session();
    pool.put(session);
    let mut said = String::new();
    advance(SESSION_IDLE_LIMIT).await;
    far.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "QUIT\r\n");
    assert!(pool.take().is_none());
}
