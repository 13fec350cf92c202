//! Databases that live for one measurement.

use crate::limits::{postgres, sqlite};
use anyhow::Context;
use domain::SystemClock;
use std::{
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};
use store::{
    Store,
    postgres::{PgStore, StoreTime},
    sqlite::SqliteStore,
};
use tempfile::TempDir;

/// What `--database` says.
#[derive(Debug, Clone)]
pub enum Name {
    Sqlite,
    Postgres(String),
}

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "sqlite" => Ok(Self::Sqlite),
            url if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                Ok(Self::Postgres(url.to_owned()))
            }
            _ => Err("say sqlite or postgres://…"),
        }
    }
}

/// Where measurements take place.
pub enum Database {
    Sqlite {
        /// The folder for the files; the system's temporary one if there is none.
        folder: Option<PathBuf>,
    },
    Postgres {
        admin: postgres::Admin,
    },
    /// One database that somebody made for us and will remove.
    Given {
        url: String,
    },
}

impl Database {
    pub async fn named(name: &Name, folder: Option<&Path>) -> anyhow::Result<Self> {
        Ok(match name {
            Name::Sqlite => Self::Sqlite {
                folder: folder.map(Path::to_owned),
            },
            Name::Postgres(url) => Self::Postgres {
                admin: postgres::Admin::connect(url)
                    .await
                    .context("cannot reach PostgreSQL")?,
            },
        })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SQLite",
            Self::Postgres { .. } | Self::Given { .. } => "PostgreSQL",
        }
    }

    pub fn is_sqlite(&self) -> bool {
        matches!(self, Self::Sqlite { .. })
    }

    /// Its version, and what its speed depends on.
    pub async fn version(&self) -> anyhow::Result<String> {
        Ok(match self {
            Self::Sqlite { .. } => sqlite::version(),
            Self::Postgres { admin } => admin.version().await?,
            Self::Given { url } => postgres::Admin::connect(url).await?.version().await?,
        })
    }

    pub async fn fresh(&self) -> anyhow::Result<Location> {
        Ok(match self {
            Self::Sqlite { folder } => {
                let made = fresh_folder(folder.as_deref())?;
                Location::Folder(made.path().to_owned(), Some(made))
            }
            Self::Postgres { admin } => Location::Database(admin.create().await?),
            Self::Given { url } => Location::Database(url.clone()),
        })
    }

    pub async fn remove(&self, location: Location) -> anyhow::Result<()> {
        match (self, location) {
            (Self::Postgres { admin }, Location::Database(url)) => Ok(admin.drop(&url).await?),
            (Self::Given { .. } | Self::Postgres { .. } | Self::Sqlite { .. }, _) => Ok(()),
        }
    }
}

/// A new folder, in this one or where the system keeps temporary ones.
pub fn fresh_folder(inside: Option<&Path>) -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("waypost-bench-");
    match inside {
        Some(folder) => builder.tempdir_in(folder),
        None => builder.tempdir(),
    }
}

/// One place to measure in.
#[derive(Debug)]
pub enum Location {
    /// A folder for files; one that was made for this is removed when dropped.
    Folder(
        PathBuf,
        #[allow(dead_code, reason = "removes the folder when dropped")] Option<TempDir>,
    ),
    /// The URL of a database.
    Database(String),
}

impl Location {
    /// The place that [`Location::name`] of another process said.
    pub fn named(name: &str) -> Self {
        match name.contains("://") {
            true => Self::Database(name.to_owned()),
            false => Self::Folder(name.into(), None),
        }
    }

    pub fn name(&self) -> String {
        match self {
            Self::Folder(folder, _) => folder.display().to_string(),
            Self::Database(url) => url.clone(),
        }
    }

    /// The product's store in it, opened as `serve` opens it.
    pub async fn open(&self, node: &str) -> anyhow::Result<Arc<dyn Store>> {
        Ok(match self {
            Self::Folder(folder, _) => Arc::new(SqliteStore::open(
                &folder.join("waypost.db"),
                Arc::new(SystemClock),
            )?),
            Self::Database(url) => Arc::new(PgStore::open(url, StoreTime::Database, node.to_owned()).await?),
        })
    }

    /// The file of the product's embedded store.
    pub fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Folder(folder, _) => Some(folder.join("waypost.db")),
            Self::Database(_) => None,
        }
    }

    /// Nothing is left to be done for what was written so far when the clock starts.
    pub async fn settle(&self) -> anyhow::Result<()> {
        match self {
            Self::Folder(folder, _) => Ok(sqlite::settle(&folder.join("waypost.db")).await?),
            Self::Database(url) => Ok(postgres::settle(url).await?),
        }
    }
}
