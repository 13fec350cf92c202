//! Files for others to wait for.

use anyhow::Context;
use std::{io::Write, path::Path};

/// Whoever waits for the file sees all of it or nothing.
pub fn write_whole(file: &Path, text: &str) -> anyhow::Result<()> {
    let write = || -> std::io::Result<()> {
        let folder = file
            .parent()
            .filter(|f| !f.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        fresh.write_all(text.as_bytes())?;
        fresh.persist(file).map_err(|e| e.error).map(drop)
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}
