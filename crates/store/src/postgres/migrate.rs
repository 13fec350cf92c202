//! Brings the schema up to what this program knows.
//!
//! Always true: nodes that start at the same time migrate one after the other (advisory lock, per schema); a schema
//! that is newer than the program is left alone and said so.

use super::{
    failed::Failed,
    server::{Server, Use},
    sql,
};
use crate::{Error, Result, schema};
use tokio_postgres::Client;

/// `date_bin` came with 14.
const OLDEST_SERVER: i32 = 14;

/// The newest schema this program knows.
pub(super) fn known_version() -> i64 {
    schema::POSTGRES.version()
}

/// Migrates the database at `url`, alone and without opening a store. Answers with the schema version it has then.
pub async fn migrate(url: &str) -> Result<i64> {
    migrate_server(&Server::parse(url)?).await
}

pub(super) async fn migrate_server(server: &Server) -> Result<i64> {
    let (mut client, connection) = server.connect(Use::Migrate).await?;
    // Ends with the client; what goes wrong with it is seen by whoever uses the client.
    let driver = tokio::spawn(connection);
    let result = locked(&mut client, &server.schema).await;
    drop(client);
    driver.abort();
    result
}

async fn locked(client: &mut Client, schema: &str) -> Result<i64> {
    let run = |e: tokio_postgres::Error| Error::from(Failed::from(e));
    let server = client.query_one(sql::server_version, &[]).await.map_err(run)?;
    if server.get::<_, i32>(0) / 10_000 < OLDEST_SERVER {
        let found: &str = server.get(1);
        let words = format!("PostgreSQL {OLDEST_SERVER} or newer is needed, this is {found}");
        return Err(Error::Refused(words));
    }
    // Held until the session ends.
    client
        .query_one(sql::lock_schema, &[&schema])
        .await
        .map_err(run)?;
    // Looked for first: making one needs a right on the database that an operator may have kept.
    let found: bool = client
        .query_one(sql::schema_exists, &[&schema])
        .await
        .map_err(run)?
        .get(0);
    if !found {
        client
            .batch_execute(&sql::create_schema(schema))
            .await
            .map_err(run)?;
    }
    let known = known_version();
    let found = version(client).await?;
    if found > known {
        return Err(Error::NewerSchema { found, known });
    }
    let runner = schema::POSTGRES.runner().map_err(Failed::of_migration)?;
    runner.run_async(client).await.map_err(Failed::of_migration)?;
    Ok(known)
}

async fn version(client: &Client) -> Result<i64> {
    let run = |e: tokio_postgres::Error| Error::from(Failed::from(e));
    let is_empty: bool = client
        .query_one(sql::schema_is_empty, &[])
        .await
        .map_err(run)?
        .get(0);
    if is_empty {
        return Ok(0);
    }
    let row = client.query_one(sql::schema_version, &[]).await.map_err(run)?;
    Ok(row.get(0))
}
