//! Whether the disk under the buffer takes what is written: who tells another machine that it is there must know.
//!
//! Leaves to others: how long a write may take, and how old the last one may be (`site::pair`).

use super::{Buffer, sql};
use crate::Result;
use domain::lock::lock;
use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

/// When this was last proved without there being anything else to write.
const PROVED_AT: &str = "proved_at";

impl Buffer {
    /// For how long what is being written has not come to its end; none while nothing waits for the disk.
    pub fn writing_for(&self) -> Option<Duration> {
        self.writer.writing_for()
    }

    /// For how long nothing has been written, so that nobody knows whether the disk still takes anything. None while something is
    /// being written, and for a buffer that has no thread which could hang.
    pub fn unproved_for(&self) -> Option<Duration> {
        self.writer.idle_for().filter(|_| !self.inline)
    }

    /// Writes something down that means nothing to anybody. A standby may do that as well: its copy stays what it is.
    pub async fn prove(&self) -> Result<()> {
        self.write_as_either(1, |s, _| {
            let mut set = s.conn.prepare_cached(sql::meta_set)?;
            set.execute([PROVED_AT, &s.now.as_millis().to_string()])?;
            Ok(())
        })
        .await
    }

    /// For tests: behaves as if the disk answered nothing until what is returned is dropped.
    #[doc(hidden)]
    pub fn hang(self: &Arc<Self>) -> HungDisk {
        let (hung, ends) = mpsc::channel::<()>();
        let (buffer, ends) = (self.clone(), Mutex::new(ends));
        tokio::spawn(async move {
            let hangs = buffer.write_as_either(1, move |_, _| {
                let _ = lock(&ends).recv();
                Ok(())
            });
            hangs.await
        });
        HungDisk { _hung: hung }
    }
}

/// A disk that hangs as long as this is there.
#[doc(hidden)]
#[derive(Debug)]
pub struct HungDisk {
    _hung: mpsc::Sender<()>,
}
