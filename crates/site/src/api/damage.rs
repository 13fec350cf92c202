//! What was damaged, that somebody has seen it, and bringing messages back: `GET /damage`, `POST /damage/acknowledge`,
//! `POST /recover`.

use super::{
    Api, Problem,
    body::Fields,
    lists::{here, only},
};
use axum::{
    Json,
    extract::{Query, State},
};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};
use store::buffer::Damage;

pub async fn list(
    State(api): State<Api>,
    Query(asked): Query<HashMap<String, String>>,
) -> Result<Json<Value>, Problem> {
    only(&asked, &[])?;
    let found = api.agent.site.buffer.damage().await?;
    Ok(Json(json!({"items": shown(found)})))
}

pub(super) fn shown(damage: Vec<Damage>) -> Vec<Value> {
    let one = |d: Damage| {
        json!({
            "id": d.id, "at": d.at, "what": d.what, "file": d.file, "recovered": d.recovered, "lost": d.lost,
        })
    };
    damage.into_iter().map(one).collect()
}

/// All of it where none is named.
pub async fn acknowledge(State(api): State<Api>, mut fields: Fields) -> Result<Json<Value>, Problem> {
    let id = fields.number("id");
    fields.finish()?;
    let n = api.agent.site.buffer.acknowledge_damage(id, &here()).await?;
    match (n, id) {
        (0, Some(id)) => Err(Problem::not_found(format!(
            "there is no damage {id} that has not been acknowledged"
        ))),
        (n, _) => Ok(Json(json!({"acknowledged": n}))),
    }
}

/// Only files beside the buffer: this is no way to have the agent open what the asker may not.
pub async fn recover(State(api): State<Api>, mut fields: Fields) -> Result<Json<Value>, Problem> {
    let file = fields.needed("file");
    fields.finish()?;
    let buffer = &api.agent.site.buffer;
    let file = beside(buffer.path(), Path::new(&file))?;
    let done = buffer
        .recover(&file, &here())
        .await
        .map_err(|e| Problem::field("file", format!("cannot be read: {}", domain::chain(&e))))?;
    Ok(Json(json!({
        "file": file.display().to_string(), "recovered": done.taken, "known": done.known, "lost": done.lost,
        "trouble": done.trouble,
    })))
}

fn beside(buffer: &Path, file: &Path) -> Result<PathBuf, Problem> {
    // A buffer that is called by its name alone is in the folder the agent runs in.
    let folder = |path: &Path| std::path::absolute(path).ok()?.parent()?.canonicalize().ok();
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let ours = buffer.file_name().unwrap_or_default().to_string_lossy();
    // A bare name is one beside the buffer.
    let bare = file.parent().is_some_and(|f| f.as_os_str().is_empty());
    let in_folder = bare || folder(file).is_some_and(|found| folder(buffer) == Some(found));
    match name {
        Some(name) if in_folder && name.starts_with(&format!("{ours}.")) => Ok(buffer.with_file_name(name)),
        _ => Err(Problem::field(
            "file",
            format!(
                "must be a file beside the buffer whose name begins with {ours:?}, such as {ours}.damaged-…"
            ),
        )),
    }
}
