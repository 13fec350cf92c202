//! A NUL in any text of any body that the OpenAPI document describes is refused with the field's name, on both databases:
//! PostgreSQL cannot store one, and what SQLite would store could not be asked for again.

use crate::{
    openapi::{document, operations},
    openapi_walk::{Furnished, good_body},
    world::World,
};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use store::directory::Role;
use testkit::Database;

const NUL: &str = "nul\0nul";

/// Where a text is: names of fields, and a `0` for the first item of an array.
type Place = Vec<String>;

#[tokio::test]
async fn a_nul_in_any_text_of_a_body_is_refused_by_name() {
    Box::pin(every_text_refuses_a_nul(Database::Sqlite)).await;
}

#[cfg(feature = "postgres-tests")]
#[tokio::test]
async fn a_nul_in_any_text_of_a_body_is_refused_by_name_on_postgres() {
    Box::pin(every_text_refuses_a_nul(Database::Postgres)).await;
}

async fn every_text_refuses_a_nul(database: Database) {
    let document = document();
    let furnished = Furnished::on(database).await;
    let (mut wrong, mut tried) = (String::new(), 0);
    for (method, path, operation) in operations(&document) {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let Some(name) = schema["$ref"].as_str().and_then(|link| link.rsplit('/').next()) else {
            continue;
        };
        let asked = furnished.acceptable(&document, &path, operation).swap_remove(0);
        let mut places = vec![];
        texts(&document, schema, &mut vec![], &mut places);
        for place in places {
            let mut body = good_body(name, &path);
            put(&mut body, &place);
            let mut asked = asked.clone();
            asked.body = Some((body.to_string(), "application/json"));
            let answer = furnished.ask(&method, &asked).await;
            tried += 1;
            let refused = match name {
                // Each notification of a batch has an answer of its own.
                "BatchRequest" => answer.status == 202 && answer.text.contains("must not contain a NUL"),
                _ => answer.status == 422 && names(&answer.text, &field(&place)),
            };
            if let Some(why) = answer.misfit(&document, operation) {
                _ = writeln!(wrong, "{method} {path}, {}: {why}", field(&place));
            } else if !refused {
                let (status, text) = (answer.status, answer.text);
                _ = writeln!(wrong, "{method} {path}, {}: {status} {text:.300}", field(&place));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(tried > 100, "{tried} texts were found");
}

/// The places of all texts that a schema describes. What it leaves open is kept as JSON, which escapes a NUL.
fn texts(document: &Value, schema: &Value, at: &mut Place, found: &mut Vec<Place>) {
    if let Some(link) = schema["$ref"].as_str() {
        let name = link.rsplit('/').next().unwrap_or_default();
        return texts(document, &document["components"]["schemas"][name], at, found);
    }
    for part in ["oneOf", "allOf"] {
        let parts = schema[part].as_array().into_iter().flatten();
        parts.for_each(|part| texts(document, part, at, found));
    }
    if schema["type"] == "string"
        || schema["type"]
            .as_array()
            .is_some_and(|all| all.contains(&json!("string")))
    {
        found.push(at.clone());
    }
    let mut inside = |name: &str, schema: &Value| {
        at.push(name.to_owned());
        texts(document, schema, at, found);
        at.pop();
    };
    if schema["items"].is_object() {
        inside("0", &schema["items"]);
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        inside(name, schema);
    }
}

/// Puts the text into the body, which otherwise stays as it is.
fn put(body: &mut Value, place: &[String]) {
    let Some((first, rest)) = place.split_first() else {
        *body = NUL.into();
        return;
    };
    if first == "0" {
        if body.as_array().is_none_or(Vec::is_empty) {
            *body = json!([null]);
        }
        return put(&mut body[0], rest);
    }
    if !body.is_object() {
        *body = Value::Object(Map::new());
    }
    put(&mut body[first.as_str()], rest);
}

/// The place as the API names it: `recipients[0].address`.
fn field(place: &[String]) -> String {
    let mut named = String::new();
    for part in place {
        match part.as_str() {
            "0" => named.push_str("[0]"),
            part if named.is_empty() => named.push_str(part),
            part => _ = write!(named, ".{part}"),
        }
    }
    named
}

fn names(problem: &str, field: &str) -> bool {
    let problem: Value = serde_json::from_str(problem).unwrap_or_default();
    let errors = problem["errors"].as_array();
    errors.is_some_and(|all| all.iter().any(|error| error["field"] == field))
}

#[tokio::test]
async fn a_nul_in_a_setting_of_a_provider_is_refused_by_name() {
    let kinds = {
        let outside = std::sync::Arc::new(delivery::Outside::new(std::sync::Arc::new(domain::SystemClock)));
        delivery::Registry::standard(outside, delivery::Captured::default())
    };
    let world = World::on(Database::Sqlite, kinds.iter().cloned().collect()).await;
    let settings =
        json!({"host": "mail.example", "from": "a@example.com", "username": "a\0b", "password": "x"});
    let made = json!({"id": "fresh", "kind": "smtp", "settings": settings});
    let answer = world.post("/api/providers", made).await;
    assert_eq!(answer.bad_fields(), ["settings.username"]);
}

#[tokio::test]
async fn the_name_of_a_list_can_be_written_in_a_path() {
    let world = World::new().await;
    for name in ["a\0b", "a\nb"] {
        let answer = world.post("/api/lists", json!({"name": name})).await;
        assert_eq!(answer.bad_fields(), ["name"], "{name:?}");
    }
    let admin = world.key(Role::Admin);
    let lists = world.ask("GET", "/api/lists", &admin, None).await.expect(200);
    assert_eq!(lists["items"].as_array().unwrap().len(), 1);
}
