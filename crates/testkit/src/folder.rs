//! A temporary folder that outlives everything in a test: tasks that nobody waited for write until the test's runtime ends, and an
//! agent whose folder is gone makes a new one to save what it has.

use std::{cell::RefCell, path::Path, sync::Arc};
use tempfile::TempDir;

thread_local! {
    /// A test is a thread. What is kept here goes when that ends, after its runtime.
    static KEPT: RefCell<Vec<Arc<TempDir>>> = const { RefCell::new(vec![]) };
}

/// Removed when the thread of the test ends, and everybody who has it.
#[derive(Debug, Clone)]
pub struct Folder(Arc<TempDir>);

impl Folder {
    pub fn of_this_test() -> Self {
        let folder = Arc::new(TempDir::new().expect("a temporary folder"));
        KEPT.with_borrow_mut(|kept| kept.push(folder.clone()));
        Self(folder)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
