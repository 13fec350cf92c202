//! The outboxes that events come from: central's own or an application's, on either database, beside a central on either
//! database. Killed nodes, marks that never came, backups, transactions that stay open.

use crate::{
    application::Application,
    crash::{drained, quiet, sent_but_not_recorded},
    events::{ALARM, arrived, message_of, set_up},
    far_end,
    node::{Node, Setup},
    size,
};
use client::{
    Client, NotificationId,
    events::{EventFilter, NewEvent},
};
use domain::{EventId, SystemClock};
use simulator::HttpReceiver;
use std::sync::Arc;
use store::{Store, sqlite::SqliteStore};
use testkit::eventually;
use tokio::io::AsyncReadExt;

/// The database of a central.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Central {
    Sqlite,
    #[cfg(feature = "postgres-tests")]
    Postgres,
}

/// Where the application puts its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outbox {
    /// Central's own: over HTTP where central is embedded, in SQL where it is not.
    Own,
    SqliteFile,
    #[cfg(feature = "postgres-tests")]
    Postgres,
}

struct World {
    setup: Setup,
    central: Central,
    application: Application,
    far_end: HttpReceiver,
    node: Option<Node>,
    /// What has to arrive.
    expected: Vec<NotificationId>,
    entities: usize,
    /// Last, so that it goes when nobody writes into it any more.
    _folder: tempfile::TempDir,
}

impl World {
    async fn new(central: Central, outbox: Outbox) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let setup = match central {
            Central::Sqlite => Setup::sqlite(folder.path()),
            #[cfg(feature = "postgres-tests")]
            Central::Postgres => {
                let url = crate::postgres::database().await;
                Setup::postgres("one", folder.path(), &url)
            }
        };
        let (application, source) = match outbox {
            Outbox::Own => (Application::Http, None),
            Outbox::SqliteFile => {
                let (application, url) = Application::in_file(&folder.path().join("shop.db")).await;
                (application, Some(url))
            }
            #[cfg(feature = "postgres-tests")]
            Outbox::Postgres => {
                let url = crate::postgres::database().await;
                (Application::in_postgres(&url, true).await, Some(url))
            }
        };
        if let Some(url) = source {
            let config =
                format!("[[event_source]]\nname = \"shop\"\nurl = \"{url}\"\ntenant = \"default\"\n");
            std::fs::write(folder.path().join("waypost.toml"), config).unwrap();
        }
        let far_end = far_end::receiver().await;
        let node = Node::start(&setup).await;
        set_up(&node.client, &far_end).await;
        #[cfg(feature = "postgres-tests")]
        let application = match (central, outbox) {
            (Central::Postgres, Outbox::Own) => Application::in_postgres(&setup.database, false).await,
            _ => application,
        };
        Self {
            _folder: folder,
            setup,
            central,
            application,
            far_end,
            node: Some(node),
            expected: vec![],
            entities: 0,
        }
    }

    fn client(&self) -> &Client {
        &self.node.as_ref().unwrap().client
    }

    /// One transaction of the application with so many events. What was rolled back is expected nowhere.
    async fn transaction(&mut self, events: usize, commit: bool) {
        let entities: Vec<String> = (0..events).map(|n| format!("{}", self.entities + n)).collect();
        self.entities += events;
        let ids = match &mut self.application {
            // Nobody can take back what was answered over HTTP.
            Application::Http if !commit => return,
            Application::Http => {
                let client = &self.node.as_ref().unwrap().client;
                let mut ids = vec![];
                for entity in &entities {
                    let event = NewEvent::new(ALARM, entity, Default::default());
                    ids.push(client.emit(&event).await.unwrap().event_id);
                }
                ids
            }
            application => application.transaction(&entities, commit).await,
        };
        if commit {
            let both = ids.iter().zip(&entities);
            self.expected
                .extend(both.flat_map(|(id, entity)| message_of(*id, entity)));
        }
    }

    async fn start(&mut self) {
        self.node = Some(Node::start(&self.setup).await);
    }

    async fn stop(&mut self) {
        assert_eq!(self.node.take().unwrap().stop().await, 0);
    }

    async fn kill(&mut self) {
        self.node.take().unwrap().kill();
        quiet(&self.far_end).await;
    }

    /// What the far end has of the killed node and the node does not know of.
    async fn in_flight(&self) -> u64 {
        let store: Arc<dyn Store> = match self.central {
            Central::Sqlite => {
                let path = self.setup.folder.join("waypost.db");
                Arc::new(SqliteStore::open_beside(&path, Arc::new(SystemClock)).unwrap())
            }
            #[cfg(feature = "postgres-tests")]
            Central::Postgres => Arc::new(crate::postgres::open(&self.setup.database, "looks").await),
        };
        let n = sent_but_not_recorded(&*store, &self.far_end).await;
        store.close().await;
        n
    }

    /// Nothing is left to do: all is marked in the source, published at central and delivered.
    async fn settled(&self) {
        arrived(&self.far_end, &self.expected).await;
        eventually("everything to be marked", async || {
            (self.application.unmarked().await == 0).then_some(())
        })
        .await;
        let pending = EventFilter {
            status: Some("Pending".into()),
            ..EventFilter::default()
        };
        eventually("everything to be published", async || {
            let rows = self.client().events(&pending, 1).await.ok()?;
            rows.is_empty().then_some(())
        })
        .await;
        drained(self.client()).await;
    }

    /// Exactly what was committed has arrived, once each.
    async fn assert_once_each(&self) {
        self.settled().await;
        let counts = self.far_end.counts();
        assert_eq!(counts.repeats, 0);
        assert_eq!(counts.requests, self.expected.len() as u64);
    }
}

macro_rules! for_each_outbox {
    ($($case:ident),* $(,)?) => {
        for_each_outbox! { cells
            central_sqlite_own: Sqlite, Own; $($case),*
        }
        for_each_outbox! { cells
            central_sqlite_file: Sqlite, SqliteFile; $($case),*
        }
        #[cfg(feature = "postgres-tests")]
        for_each_outbox! { cells
            central_sqlite_source_postgres: Sqlite, Postgres; $($case),*
        }
        #[cfg(feature = "postgres-tests")]
        for_each_outbox! { cells
            central_postgres_own: Postgres, Own; $($case),*
        }
        #[cfg(feature = "postgres-tests")]
        for_each_outbox! { cells
            central_postgres_file: Postgres, SqliteFile; $($case),*
        }
        #[cfg(feature = "postgres-tests")]
        for_each_outbox! { cells
            central_postgres_source_postgres: Postgres, Postgres; $($case),*
        }
    };
    (cells $name:ident: $central:ident, $outbox:ident; $($case:ident),*) => {
        mod $name {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let world = super::World::new(super::Central::$central, super::Outbox::$outbox).await;
                super::$case(world).await;
            })*
        }
    };
}

for_each_outbox! {
    what_commits_goes_out_once_also_while_waypost_is_away_and_what_rolls_back_never,
    a_node_killed_at_random_delivers_everything_and_repeats_only_what_was_in_flight,
}

async fn what_commits_goes_out_once_also_while_waypost_is_away_and_what_rolls_back_never(mut world: World) {
    world.transaction(3, false).await;
    world.transaction(5, true).await;
    world.transaction(1, true).await;
    world.settled().await;
    if !world.application.is_http() {
        world.stop().await;
        world.transaction(5, true).await;
        world.transaction(3, false).await;
        world.start().await;
    }
    world.transaction(2, true).await;
    world.assert_once_each().await;
}

async fn a_node_killed_at_random_delivers_everything_and_repeats_only_what_was_in_flight(mut world: World) {
    let (kills, per_kill) = (size::pick(2, 20), 100);
    let mut in_flight = 0;
    for _ in 0..kills {
        let before = rand::random_range(1..per_kill);
        for _ in 0..before {
            world.transaction(1, true).await;
        }
        // Somewhere between outbox, notifications and provider.
        let some = world.expected.len() * rand::random_range(0..4) / 4;
        let far_end = &world.far_end;
        eventually("some of it to arrive", async || {
            (far_end.counts().requests >= some as u64).then_some(())
        })
        .await;
        world.kill().await;
        in_flight += world.in_flight().await;
        world.start().await;
        for _ in before..per_kill {
            world.transaction(1, true).await;
        }
    }
    world.settled().await;
    let repeats = world.far_end.counts().repeats;
    println!(
        "{} messages, {repeats} repeated, {in_flight} in flight at {kills} kills",
        world.expected.len()
    );
    assert!(
        repeats <= in_flight,
        "{repeats} came twice, {in_flight} were in flight"
    );
}

/// The node is killed while the application's own lock keeps its mark from being written.
async fn a_kill_between_centrals_commit_and_the_mark_repeats_nothing(mut world: World) {
    world.transaction(5, true).await;
    world.settled().await;
    world.stop().await;
    world.transaction(5, true).await;
    world.application.keep_from_being_marked().await;
    world.start().await;
    arrived(&world.far_end, &world.expected).await;
    world.kill().await;
    assert_eq!(world.application.unmarked().await, 5, "nobody could mark them");
    world.application.let_it_be_marked().await;
    // A notification that was delivered and not recorded may be repeated; what comes from an event a second time is none.
    let in_flight = world.in_flight().await;
    world.start().await;
    world.transaction(1, true).await;
    world.settled().await;
    let counts = world.far_end.counts();
    assert!(counts.repeats <= in_flight, "{} repeats", counts.repeats);
    assert_eq!(counts.requests - counts.repeats, world.expected.len() as u64);
}

/// Its last events never were, what was marked is not, and the numbers are given out again.
async fn a_source_restored_from_a_backup_repeats_nothing_and_swallows_nothing(mut world: World) {
    world.transaction(5, true).await;
    world.application.back_up().await;
    world.transaction(5, true).await;
    world.settled().await;
    world.application.restore().await;
    world.transaction(5, true).await;
    world.assert_once_each().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_before_the_mark_in_a_sqlite_file_repeats_nothing() {
    let world = World::new(Central::Sqlite, Outbox::SqliteFile).await;
    a_kill_between_centrals_commit_and_the_mark_repeats_nothing(world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sqlite_file_restored_from_a_backup_repeats_nothing_and_swallows_nothing() {
    let world = World::new(Central::Sqlite, Outbox::SqliteFile).await;
    a_source_restored_from_a_backup_repeats_nothing_and_swallows_nothing(world).await;
}

#[cfg(feature = "postgres-tests")]
mod on_postgres {
    use super::*;
    use sqlx::{Connection, PgConnection};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_kill_before_the_mark_in_postgres_repeats_nothing() {
        let world = World::new(Central::Postgres, Outbox::Postgres).await;
        a_kill_between_centrals_commit_and_the_mark_repeats_nothing(world).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_postgres_restored_from_a_backup_repeats_nothing_and_swallows_nothing() {
        let world = World::new(Central::Postgres, Outbox::Postgres).await;
        a_source_restored_from_a_backup_repeats_nothing_and_swallows_nothing(world).await;
    }

    /// There is no high-water mark: what commits late goes out late, and not never.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_event_whose_transaction_commits_after_later_ones_goes_out_then() {
        for outbox in [Outbox::Own, Outbox::Postgres] {
            let mut world = World::new(Central::Postgres, outbox).await;
            let Application::Postgres { url, .. } = &world.application else {
                unreachable!("both outboxes are in PostgreSQL")
            };
            let slow = crate::application::session(url).await;
            slow.batch_execute("begin").await.unwrap();
            let id = emit::Event::new(ALARM, "late", "{}").emit(&slow).await.unwrap();
            for _ in 0..5 {
                world.transaction(1, true).await;
            }
            world.settled().await;
            slow.batch_execute("commit").await.unwrap();
            let late = message_of(EventId(id.parse().unwrap()), "late");
            world.expected.extend(late);
            world.assert_once_each().await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_event_in_a_transaction_of_sqlx_goes_out_when_it_commits_and_never_when_it_rolls_back() {
        let mut world = World::new(Central::Postgres, Outbox::Postgres).await;
        let Application::Postgres { url, .. } = &world.application else {
            unreachable!("the outbox is in PostgreSQL")
        };
        let mut application = PgConnection::connect(url).await.unwrap();
        let mut undone = application.begin().await.unwrap();
        let event = emit::Event::new(ALARM, "undone", "{}");
        event.emit_with_sqlx(&mut undone).await.unwrap();
        undone.rollback().await.unwrap();
        let mut done = application.begin().await.unwrap();
        let event = emit::Event::new(ALARM, "done", "{}");
        let id = event.emit_with_sqlx(&mut done).await.unwrap();
        done.commit().await.unwrap();
        let message = message_of(EventId(id.parse().unwrap()), "done");
        world.expected.extend(message);
        world.assert_once_each().await;
    }
}

/// A server that takes the connection and never says a word.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_hangs_keeps_no_other_waiting() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let setup = Setup::sqlite(folder.path());
    let (mut application, url) = Application::in_file(&folder.path().join("shop.db")).await;
    let config = format!(
        "[[event_source]]\nname = \"hangs\"\nurl = \"postgres://shop@{}/shop?sslmode=disable&connect_timeout=600\"\n\
         [[event_source]]\nname = \"shop\"\nurl = \"{url}\"\n",
        silent.local_addr().unwrap()
    );
    std::fs::write(folder.path().join("waypost.toml"), config).unwrap();
    let far_end = far_end::receiver().await;
    let node = Node::start(&setup).await;
    set_up(&node.client, &far_end).await;
    // Whoever asks it now waits for its first word.
    let (mut asked, _) = silent.accept().await.unwrap();
    let entities = ["7".to_owned()];
    let ids = application.transaction(&entities, true).await;
    arrived(&far_end, &message_of(ids[0], "7")).await;
    let mut said = [0; 1024];
    assert!(asked.read(&mut said).await.unwrap() > 0, "its first words");
    let more = asked.try_read(&mut said);
    assert!(
        matches!(&more, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock),
        "it is still waited for: {more:?}"
    );
}
