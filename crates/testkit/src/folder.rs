//! A temporary folder that outlives everything in a test: tasks that nobody waited for write until the test's runtime ends, and an
//! agent whose folder is gone makes a new one to save what it has.

use std::{
    cell::RefCell,
    fs,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// For threads that outlive the runtime to close their files.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(20);

thread_local! {
    /// A test is a thread. What is kept here goes when that ends, after its runtime.
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(vec![]) };
}

/// Goes once nobody in this process has a file open there: a thread that closes its database late would make the folder anew.
struct Kept(Arc<TempDir>);

impl Drop for Kept {
    #[allow(
        clippy::disallowed_methods,
        reason = "a condition is waited for, and nobody tells when a file is closed"
    )]
    fn drop(&mut self) {
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        while is_in_use(self.0.path()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Where the system does not tell, nobody does.
fn is_in_use(folder: &Path) -> bool {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let mut files = open.filter_map(|one| fs::read_link(one.path()).ok());
    files.any(|file| file.starts_with(folder))
}

/// Removed when the thread of the test ends, and everybody who has it.
#[derive(Debug, Clone)]
pub struct Folder(Arc<TempDir>);

impl Folder {
    pub fn of_this_test() -> Self {
        let folder = Arc::new(TempDir::new().expect("a temporary folder"));
        KEPT.with_borrow_mut(|kept| kept.push(Kept(folder.clone())));
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn it_is_there_as_long_as_its_test_and_no_longer() {
        let test = || {
            let folder = Folder::of_this_test();
            let path = folder.path().to_owned();
            drop(folder);
            assert!(path.is_dir());
            path
        };
        let path = std::thread::spawn(test).join().expect("the thread of a test");
        assert!(!path.exists());
    }

    #[test]
    fn a_thread_that_closes_late_leaves_nothing() {
        let test = || {
            let path = Folder::of_this_test().path().to_owned();
            let file = fs::File::create(path.join("open")).expect("a file");
            let (running, ended) = mpsc::channel::<()>();
            let late = thread::spawn({
                let path = path.clone();
                move || {
                    let _ = ended.recv();
                    fs::create_dir_all(&path).expect("the folder");
                    fs::write(path.join("saved"), "what was left").expect("a file");
                    drop(file);
                }
            });
            drop(running);
            (path, late)
        };
        let (path, late) = thread::spawn(test).join().expect("the thread of a test");
        late.join().expect("the late thread");
        assert!(!path.exists());
    }
}
