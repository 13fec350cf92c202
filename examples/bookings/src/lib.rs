//! An application that rents out homes, as small as it can be: guests, listings, bookings, in PostgreSQL or in a SQLite
//! file of its own.
//!
//! What it shows is in [`sqlite`] and [`postgres`]: a booking is confirmed and the events are put in by one transaction, so
//! that there is never a confirmed booking of which nobody is told, nor a message about one that was rolled back. Who is
//! told what, and when, it does not know: that stands in `event-types` and `templates`.

pub mod postgres;
pub mod sqlite;

use anyhow::bail;
use emit::Event;

const USAGE: &str = "usage: bookings DATABASE setup | confirm ID | cancel ID | show ID
DATABASE is sqlite://FILE or postgres://…";

/// What a person may do with a booking, and what is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Confirm,
    Cancel,
}

impl Change {
    /// The status the booking gets.
    pub fn status(self) -> &'static str {
        match self {
            Self::Confirm => "Confirmed",
            Self::Cancel => "Cancelled",
        }
    }

    /// A confirmed booking is told of at once, and once more before the guest arrives: two types of event, each with a time
    /// of its own.
    fn event_types(self) -> &'static [&'static str] {
        match self {
            Self::Confirm => &["booking.confirmed", "booking.checkin"],
            Self::Cancel => &["booking.cancelled"],
        }
    }

    /// The events of the transaction. They name the booking and nothing else: guest and listing are looked up when the
    /// messages are written, as they are by then.
    pub fn events<'a>(self, booking: &'a str, payload: &'a str) -> impl Iterator<Item = Event<'a>> {
        self.event_types().iter().map(move |event_type| Event {
            topic: Some("booking.events"),
            ..Event::new(event_type, booking, payload)
        })
    }
}

pub fn payload(booking: i64) -> String {
    format!(r#"{{"bookingId": {booking}}}"#)
}

/// Does what the words say; answers with what there is to read.
pub async fn run(words: &[&str]) -> anyhow::Result<String> {
    let (database, command) = match words {
        [database, command @ ..] => (*database, command),
        [] => bail!(USAGE),
    };
    let mut app = App::open(database).await?;
    match command {
        ["setup"] => {
            app.setup().await?;
            Ok("the tables are there, with booking 12345".into())
        }
        ["confirm", id] => app.change(id.parse()?, Change::Confirm).await,
        ["cancel", id] => app.change(id.parse()?, Change::Cancel).await,
        ["show", id] => app.show(id.parse()?).await,
        _ => bail!(USAGE),
    }
}

/// The application on either database.
#[derive(Debug)]
pub enum App {
    Sqlite(sqlite::Bookings),
    Postgres(postgres::Bookings),
}

impl App {
    pub async fn open(database: &str) -> anyhow::Result<Self> {
        match database.strip_prefix("sqlite://") {
            Some(file) => Ok(Self::Sqlite(sqlite::Bookings::open(file)?)),
            None => Ok(Self::Postgres(postgres::Bookings::connect(database).await?)),
        }
    }

    pub async fn setup(&self) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(app) => app.setup(),
            Self::Postgres(app) => app.setup().await,
        }
    }

    pub async fn change(&mut self, booking: i64, change: Change) -> anyhow::Result<String> {
        match self {
            Self::Sqlite(app) => app.change(booking, change)?,
            Self::Postgres(app) => app.change(booking, change).await?,
        }
        Ok(format!("booking {booking} is {}", change.status()))
    }

    pub async fn show(&self, booking: i64) -> anyhow::Result<String> {
        match self {
            Self::Sqlite(app) => app.show(booking),
            Self::Postgres(app) => app.show(booking).await,
        }
    }
}
