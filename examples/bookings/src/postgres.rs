//! In PostgreSQL, with tokio-postgres, in a schema of its own.

use crate::{Change, payload};
use anyhow::{Context, ensure};
use tokio_postgres::{Client, NoTls};

#[derive(Debug)]
pub struct Bookings {
    client: Client,
}

impl Bookings {
    pub async fn connect(url: &str) -> anyhow::Result<Self> {
        let (client, connection) = tokio_postgres::connect(url, NoTls)
            .await
            .context("cannot connect to the database")?;
        tokio::spawn(connection);
        Ok(Self { client })
    }

    pub async fn setup(&self) -> anyhow::Result<()> {
        let setup = include_str!("sql/setup_postgres.sql");
        Ok(self.client.batch_execute(setup).await?)
    }

    /// The booking's new status and its events, in one transaction.
    pub async fn change(&mut self, booking: i64, change: Change) -> anyhow::Result<()> {
        let tx = self.client.transaction().await?;
        let update = "update rentals.bookings set status = $1 where id = $2";
        let changed = tx.execute(update, &[&change.status(), &booking]).await?;
        ensure!(changed == 1, "there is no booking {booking}");
        for event in change.events(&booking.to_string(), &payload(booking)) {
            event.emit(&tx).await?;
        }
        Ok(tx.commit().await?)
    }

    pub async fn show(&self, booking: i64) -> anyhow::Result<String> {
        let query = "select status || ', check-in ' || checkin from rentals.bookings where id = $1";
        let found = self.client.query_opt(query, &[&booking]).await?;
        let row = found.with_context(|| format!("there is no booking {booking}"))?;
        Ok(row.get(0))
    }
}
