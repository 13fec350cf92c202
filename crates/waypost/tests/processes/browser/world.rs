//! A `waypost serve` with somebody who may sign in, far ends, and its store to look into.

use super::{Browser, Scripts};
use crate::{
    far_end,
    node::{Node, Setup},
};
use client::{Notification, NotificationId};
use domain::{Status, SystemClock, TenantId};
use simulator::HttpReceiver;
use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};
use store::{
    Queries,
    query::{Filter, Page},
    sqlite::SqliteStore,
};
use tempfile::TempDir;

pub const USER: &str = "ann";
pub const PASSWORD: &str = "a password of several words";

/// Dropped in this order: the store before the node, the folder last.
pub struct World {
    /// The same file, read beside the node.
    pub store: SqliteStore,
    pub node: Node,
    /// Takes webhooks; the provider `hook` sends there.
    pub hook: HttpReceiver,
    folder: TempDir,
}

impl World {
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// With further settings, as environment variables.
    pub async fn start_with(env: &[(&str, &str)]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), env).await
    }

    /// On the database in this folder, if there is one.
    pub async fn start_in(folder: TempDir, env: &[(&str, &str)]) -> Self {
        let mut setup = Setup::sqlite(folder.path());
        setup.env = env
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        let node = Node::start(&setup).await;
        let hook = far_end::receiver().await;
        far_end::provider(&node.client, &hook, 4).await;
        let file = folder.path().join("waypost.db");
        let world = Self {
            store: SqliteStore::open_beside(&file, Arc::new(SystemClock)).unwrap(),
            node,
            hook,
            folder,
        };
        world.user(&["add", USER, "--role", "admin", "--password"], PASSWORD);
        world
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `waypost user …` on the database itself; what it prints.
    pub fn user(&self, args: &[&str], input: &str) -> String {
        let database = format!("sqlite://{}", self.folder().join("waypost.db").display());
        let mut child = Command::new(env!("CARGO_BIN_EXE_waypost"))
            .arg("user")
            .args(args)
            .args(["--database", &database])
            .current_dir(self.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = writeln!(stdin, "{input}");
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The path of a link that signs somebody in once.
    pub fn link(&self, user: &str) -> String {
        let url = self.user(&["link", user], "");
        let at = url.find("/sign-in/").expect("the command prints a link");
        url[at..].to_owned()
    }

    /// A browser that nobody is signed in to.
    pub async fn browser(&self, scripts: Scripts) -> Browser {
        Browser::start(self.folder(), self.node.client.url(), scripts).await
    }

    /// A browser that somebody is signed in to, at the overview.
    pub async fn signed_in(&self, scripts: Scripts) -> Browser {
        self.signed_in_as(USER, scripts).await
    }

    pub async fn signed_in_as(&self, user: &str, scripts: Scripts) -> Browser {
        let browser = self.browser(scripts).await;
        browser.open(&self.link(user)).await;
        browser.click("#sign-in-link button").await;
        browser.is_at("/").await;
        browser
    }

    pub async fn submit(&self, notification: Notification) -> NotificationId {
        let accepted = self.node.client.submit(&notification).await.unwrap();
        accepted.notification_id
    }

    /// Something that is parked at once, because nothing serves its type.
    pub fn undeliverable(subject: &str) -> Notification {
        Notification::to(["+4900000"])
            .channel(client::Channel::Sms)
            .subject(subject)
            .body("Nobody takes this.")
    }

    pub async fn status_of(&self, id: NotificationId) -> Status {
        let row = self.store.get(TenantId::DEFAULT, id).await.unwrap();
        row.expect("it is in the store").status
    }

    pub async fn comes_to_be(&self, id: NotificationId, status: Status) {
        super::until(&format!("{id} to be {status}"), async || {
            self.status_of(id).await == status
        })
        .await;
    }

    /// How many are in these states, up to ten thousand.
    pub async fn count(&self, status: Status) -> usize {
        let filter = Filter {
            status: vec![status],
            ..Filter::default()
        };
        let (mut count, mut after) = (0, None);
        loop {
            let page = Page { limit: 1000, after };
            let found = self.store.list(TenantId::DEFAULT, &filter, page).await.unwrap();
            count += found.rows.len();
            after = found.next;
            if after.is_none() || count > 10_000 {
                return count;
            }
        }
    }
}
