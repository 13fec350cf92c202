//! Databases of one's own on a real PostgreSQL.

use std::{path::Path, process::Command};
use store::postgres::{PgStore, StoreTime};

/// The server every test shares, started by `scripts/test`.
pub fn server() -> String {
    std::env::var("WAYPOST_TEST_POSTGRES")
        .expect("WAYPOST_TEST_POSTGRES names the test server (see scripts/test)")
}

/// A fresh database on the shared server.
pub async fn database() -> String {
    let url = fresh_url();
    create(&url).await;
    url
}

/// The URL of a database that is not there yet.
pub fn fresh_url() -> String {
    let server = server();
    let base = server.rsplit_once('/').expect("a database in the URL").0;
    format!("{base}/waypost_{}", uuid::Uuid::new_v4().simple())
}

pub async fn create(url: &str) {
    let (client, connection) = tokio_postgres::connect(&server(), tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let name = url.rsplit_once('/').expect("a database in the URL").1;
    client
        .batch_execute(&format!("create database {name}"))
        .await
        .unwrap();
}

/// Ends the sessions on which nodes of this database hear each other.
pub async fn end_listeners(url: &str) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let end = "select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and query like 'listen waypost_%'";
    client.execute(end, &[]).await.unwrap();
}

pub async fn open(url: &str, node: &str) -> PgStore {
    PgStore::open(url, StoreTime::Database, node.to_owned())
        .await
        .unwrap()
}

/// A server of one's own, to be stopped and started at will.
pub struct Server {
    folder: tempfile::TempDir,
    pub url: String,
}

fn script(arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
    let output = Command::new(script).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Server {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), mode).unwrap();
        let url = script(&["start", &folder.path().join("pg").to_string_lossy()]);
        Self { folder, url }
    }

    fn path(&self) -> String {
        self.folder.path().join("pg").to_string_lossy().into_owned()
    }

    /// As a power cut would.
    pub fn crash(&self) {
        script(&["crash", &self.path()]);
    }

    pub fn again(&self) {
        script(&["again", &self.path()]);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        script(&["stop", &self.path()]);
    }
}
