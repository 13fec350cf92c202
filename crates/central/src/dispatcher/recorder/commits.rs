//! Commits under way, and the rows in them.
//!
//! Always true: a commit gives its rows back when it is over, however it ended.

use crate::dispatcher::lanes::take;
use std::{collections::HashMap, future::Future, future::pending};
use tokio::task::{Id, JoinSet};

#[derive(Debug, Default)]
pub(super) struct Commits {
    tasks: JoinSet<()>,
    rows_of: HashMap<Id, usize>,
    rows: usize,
}

impl Commits {
    pub fn start(&mut self, rows: usize, commit: impl Future<Output = ()> + Send + 'static) {
        let id = self.tasks.spawn(commit).id();
        self.rows_of.insert(id, rows);
        self.rows += rows;
    }

    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// In all of them together.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Completes when one is over; never while there is none.
    pub async fn one_over(&mut self) {
        let id = match self.tasks.join_next_with_id().await {
            Some(Ok((id, ()))) => id,
            Some(Err(broke)) => broke.id(),
            None => return pending().await,
        };
        take(&mut self.rows, self.rows_of.remove(&id).unwrap_or(0));
    }

    pub async fn all_over(mut self) {
        while self.len() > 0 {
            self.one_over().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_commit_that_breaks_gives_its_rows_back_like_any_other() {
        let mut commits = Commits::default();
        commits.start(3, async {});
        commits.start(4, async { panic!("the disk is gone") });
        assert_eq!((commits.len(), commits.rows()), (2, 7));
        commits.one_over().await;
        commits.one_over().await;
        assert_eq!((commits.len(), commits.rows()), (0, 0));
    }
}
