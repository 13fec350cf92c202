//! Half of the processors for each of two machines that share this one, so that what one of them does is not taken from the other.

use std::thread;

/// Which processors somebody may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    All,
    FirstHalf,
    SecondHalf,
}

impl Share {
    /// Whether this machine can be divided: two processors, and a system that binds threads to some of them.
    pub fn can_be_halved() -> bool {
        cfg!(target_os = "linux") && thread::available_parallelism().is_ok_and(|n| n.get() >= 2)
    }

    /// What the other of two machines has.
    pub fn other(self) -> Self {
        match self {
            Self::All => Self::All,
            Self::FirstHalf => Self::SecondHalf,
            Self::SecondHalf => Self::FirstHalf,
        }
    }

    /// Runs this on threads that stay on these processors, and waits for it.
    pub async fn run<T: Send>(
        self,
        work: impl AsyncFnOnce() -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        if self == Self::All {
            return work().await;
        }
        let on_threads = || {
            self.bind()?;
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(self.processors()?)
                .enable_all()
                .build()?;
            runtime.block_on(work())
        };
        let joined = || thread::scope(|scope| scope.spawn(on_threads).join());
        tokio::task::block_in_place(joined).map_err(|_| anyhow::anyhow!("a measurement panicked"))?
    }
}

#[cfg(target_os = "linux")]
impl Share {
    /// Binds this thread, and whatever it starts from here on.
    pub fn bind(self) -> anyhow::Result<()> {
        use anyhow::Context;
        use rustix::thread::{CpuSet, sched_setaffinity};
        let mut set = CpuSet::new();
        self.list()?.into_iter().for_each(|processor| set.set(processor));
        sched_setaffinity(None, &set).context("cannot stay on some of the processors")
    }

    fn processors(self) -> anyhow::Result<usize> {
        Ok(self.list()?.len())
    }

    /// The numbers of the processors, of those that this process may use.
    fn list(self) -> anyhow::Result<Vec<usize>> {
        use anyhow::Context;
        use rustix::{
            process::getpid,
            thread::{CpuSet, sched_getaffinity},
        };
        // Of the first thread, which is never bound to a half.
        let ours = sched_getaffinity(Some(getpid())).context("cannot tell which processors there are")?;
        let ours: Vec<_> = (0..CpuSet::MAX_CPU)
            .filter(|processor| ours.is_set(*processor))
            .collect();
        let (first, second) = ours.split_at(ours.len() / 2);
        Ok(match self {
            Self::All => ours,
            Self::FirstHalf => first.to_vec(),
            Self::SecondHalf => second.to_vec(),
        })
    }
}

#[cfg(not(target_os = "linux"))]
impl Share {
    /// Nobody asks for a half where [`Share::can_be_halved`] says no.
    pub fn bind(self) -> anyhow::Result<()> {
        Ok(())
    }

    fn processors(self) -> anyhow::Result<usize> {
        Ok(thread::available_parallelism()?.get())
    }
}
