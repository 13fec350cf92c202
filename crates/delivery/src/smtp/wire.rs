//! Bytes to and from a mail server: whole commands out, whole replies in, nothing lost in between.

use super::{
    classify::words,
    reply::{Parsed, Reply},
};
use crate::{
    adapter::Deadline,
    redact::Redactor,
    transcript::{MAX_RAW_BYTES, Recorder},
};
use futures_util::FutureExt;
use std::{fmt, io};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout_at,
};

pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// Why no reply came.
#[derive(Debug)]
pub(super) enum WireError {
    Timeout,
    /// The far end closed the connection.
    Closed,
    Io(io::Error),
    /// What came is not SMTP.
    Garbled,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Timeout => f.write_str("no answer in time"),
            WireError::Closed => f.write_str("the server closed the connection"),
            WireError::Io(error) => error.fmt(f),
            WireError::Garbled => f.write_str("the server's answer is not SMTP"),
        }
    }
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => WireError::Closed,
            io::ErrorKind::TimedOut => WireError::Timeout,
            _ => WireError::Io(error),
        }
    }
}

/// Who writes down what is said on a connection; it changes with every attempt.
#[derive(Debug, Default, Clone)]
pub(super) struct Log {
    recorder: Recorder,
    redactor: Redactor,
}

impl Log {
    pub fn new(recorder: Recorder, redactor: Redactor) -> Self {
        Self { recorder, redactor }
    }

    fn sent(&self, bytes: &[u8]) {
        if self.recorder.is_on() {
            let start = bytes[..bytes.len().min(MAX_RAW_BYTES)].to_vec();
            let text = move || String::from_utf8_lossy(&start).replace('\r', "");
            self.recorder.sent(&self.redactor, text);
        }
    }

    fn received(&self, reply: &Result<Reply, WireError>) {
        if self.recorder.is_on() {
            let text = match reply {
                Ok(reply) => words(reply),
                Err(error) => format!("({error})"),
            };
            self.recorder.received(&self.redactor, move || text.clone());
        }
    }
}

/// One connection. Replies that arrived together are handed out one by one.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    buffer: Vec<u8>,
    /// Where the unread part of `buffer` starts.
    start: usize,
    pub log: Log,
}

impl Wire {
    pub fn new(stream: Box<dyn Stream>) -> Self {
        Self {
            stream,
            buffer: Vec::with_capacity(1024),
            start: 0,
            log: Log::default(),
        }
    }

    pub fn logged(self, log: Log) -> Self {
        Self { log, ..self }
    }

    pub async fn send(&mut self, bytes: &[u8], deadline: Deadline) -> Result<(), WireError> {
        self.log.sent(bytes);
        self.write(bytes, deadline).await
    }

    /// Sends what nobody may read; `shown` is written down instead.
    pub async fn send_hidden(
        &mut self,
        bytes: &[u8],
        shown: &str,
        deadline: Deadline,
    ) -> Result<(), WireError> {
        self.log.sent(shown.as_bytes());
        self.write(bytes, deadline).await
    }

    async fn write(&mut self, bytes: &[u8], deadline: Deadline) -> Result<(), WireError> {
        let sending = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        timeout_at(deadline.0, sending)
            .await
            .map_err(|_| WireError::Timeout)?
            .map_err(WireError::from)
    }

    /// The next reply, however many lines it has.
    pub async fn reply(&mut self, deadline: Deadline) -> Result<Reply, WireError> {
        let reply = self.next_reply(deadline).await;
        self.log.received(&reply);
        reply
    }

    async fn next_reply(&mut self, deadline: Deadline) -> Result<Reply, WireError> {
        loop {
            match Reply::parse(&self.buffer[self.start..]) {
                Parsed::Whole(reply, used) => {
                    self.start += used;
                    return Ok(reply);
                }
                Parsed::More => self.fill(deadline).await?,
                Parsed::Garbled => return Err(WireError::Garbled),
            }
        }
    }

    async fn fill(&mut self, deadline: Deadline) -> Result<(), WireError> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
        }
        let read = timeout_at(deadline.0, self.stream.read_buf(&mut self.buffer))
            .await
            .map_err(|_| WireError::Timeout)??;
        if read == 0 { Err(WireError::Closed) } else { Ok(()) }
    }

    /// Whether the far end has neither spoken out of turn nor gone away, as far as can be told without waiting.
    pub fn is_quiet(&mut self) -> bool {
        let mut byte = [0];
        self.start == self.buffer.len() && self.stream.read(&mut byte).now_or_never().is_none()
    }

    /// Says good-bye if that can be done without waiting.
    pub fn quit(mut self) {
        let _ = self.stream.write_all(b"QUIT\r\n").now_or_never();
    }

    /// The bare stream, to be encrypted. `None` if the far end has sent more than it should: whatever was sent
    /// before the handshake may be somebody else's.
    pub fn into_stream(self) -> Option<Box<dyn Stream>> {
        (self.start == self.buffer.len()).then_some(self.stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn soon() -> Deadline {
        Deadline::after(Duration::from_secs(5))
    }

    #[tokio::test]
    async fn replies_that_arrive_together_or_in_pieces_are_handed_out_one_by_one() {
        let (far, near) = tokio::io::duplex(256);
        let mut wire = Wire::new(Box::new(near));
        let mut far = Wire::new(Box::new(far));
        far.send(b"250 2.1.0 a\r\n550-5.1.1 b\r\n550 5.1.1 c\r\n35", soon())
            .await
            .unwrap();
        let first = wire.reply(soon()).await.unwrap();
        assert_eq!(
            (first.code, first.enhanced, first.message.as_str()),
            (250, [2, 1, 0], "a")
        );
        let second = wire.reply(soon()).await.unwrap();
        assert_eq!(
            (second.code, second.enhanced, second.message.as_str()),
            (550, [5, 1, 1], "b\nc")
        );
        far.send(b"4\r\n", soon()).await.unwrap();
        assert_eq!(wire.reply(soon()).await.unwrap().code, 354);
        assert!(wire.is_quiet());
        drop(far);
        assert!(!wire.is_quiet());
        assert!(matches!(wire.reply(soon()).await, Err(WireError::Closed)));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_with_the_deadline_and_nonsense_at_once() {
        let (far, near) = tokio::io::duplex(256);
        let mut wire = Wire::new(Box::new(near));
        assert!(matches!(wire.reply(soon()).await, Err(WireError::Timeout)));
        let mut far = Wire::new(Box::new(far));
        far.send(b"HTTP/1.1 400 Bad Request\r\n", soon()).await.unwrap();
        assert!(matches!(wire.reply(soon()).await, Err(WireError::Garbled)));
    }
}
