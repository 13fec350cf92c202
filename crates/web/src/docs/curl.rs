//! A command for the shell that makes one request, from the examples in the document.

use super::shape::named;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// How deep a body is made of its schema when the document gives none.
const MAX_DEPTH: usize = 4;

/// `curl …` with the key taken from the environment. Goes through `sh` as it stands.
pub fn command(document: &Value, origin: &str, (method, path): (&str, &str), operation: &Value) -> String {
    let mut line = String::from("curl");
    let json = &operation["requestBody"]["content"]["application/json"];
    let body = match &json["example"] {
        Value::Null if json.is_null() => None,
        Value::Null => Some(made_of(document, &json["schema"], 0)),
        given => Some(given.clone()),
    };
    // With a body curl posts by itself.
    match (method, &body) {
        ("get", _) | ("post", Some(_)) => {}
        _ => _ = write!(line, " -X {}", method.to_uppercase()),
    }
    let streams = operation["responses"]["200"]["content"]["text/event-stream"].is_object();
    if streams {
        line.push_str(" -N");
    }
    if operation["security"].is_array() {
        line.push_str(" -H \"Authorization: Bearer $WAYPOST_API_KEY\"");
    }
    if body.is_some() {
        line.push_str(" -H 'Content-Type: application/json'");
    }
    let query = operation["x-example-query"].as_str().unwrap_or_default();
    let _ = write!(line, " '{origin}{}{query}'", filled(path, operation));
    if let Some(body) = body {
        let text = serde_json::to_string_pretty(&body).unwrap_or_default();
        let _ = write!(line, " -d '{}'", text.replace('\'', "'\\''"));
    }
    line
}

/// The path with the examples of its parameters.
fn filled(path: &str, operation: &Value) -> String {
    let params: Vec<&Value> = operation["parameters"].as_array().into_iter().flatten().collect();
    let parts = path.split('/').map(|part| {
        let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        let param = name.and_then(|name| params.iter().find(|p| p["in"] == "path" && p["name"] == name));
        match param.and_then(|param| param["example"].as_str()) {
            Some(example) => crate::api::lists::encode(example),
            None => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The required fields of a schema, each with a value of its type.
fn made_of(document: &Value, schema: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    if let Some(name) = named(schema) {
        return made_of(document, &document["components"]["schemas"][name], depth + 1);
    }
    if let Some(first) = schema["enum"][0].as_str().or(schema["examples"][0].as_str()) {
        return json!(first);
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut whole = Map::new();
        for part in parts {
            if let Value::Object(fields) = made_of(document, part, depth + 1) {
                whole.extend(fields);
            }
        }
        return Value::Object(whole);
    }
    let kind = match &schema["type"] {
        Value::Array(several) => several.first().unwrap_or(&Value::Null),
        one => one,
    };
    match kind.as_str().unwrap_or_default() {
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "array" => json!([made_of(document, &schema["items"], depth + 1)]),
        "string" => json!("example"),
        _ => {
            let required = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let fields = required.map(|name| {
                let value = made_of(document, &schema["properties"][name], depth + 1);
                (name.to_owned(), value)
            });
            Value::Object(fields.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_key_the_address_and_the_body() {
        let operation = json!({
            "security": [{}], "parameters": [{"in": "path", "name": "id", "example": "a b"}],
            "requestBody": {"content": {"application/json": {"example": {"why": "it's late"}}}},
        });
        let line = command(
            &json!({}),
            "http://here",
            ("post", "/api/things/{id}"),
            &operation,
        );
        assert_eq!(
            line,
            "curl -H \"Authorization: Bearer $WAYPOST_API_KEY\" -H 'Content-Type: application/json' \
             'http://here/api/things/a%20b' -d '{\n  \"why\": \"it'\\''s late\"\n}'"
        );
    }

    #[test]
    fn a_body_without_an_example_is_made_of_what_is_required() {
        let document = json!({"components": {"schemas": {"Thing": {
            "type": "object", "required": ["name", "parts"],
            "properties": {"name": {"type": "string"}, "note": {"type": "string"}, "parts": {"type": "array", "items": {"type": "integer"}}},
        }}}});
        let made = made_of(&document, &json!({"$ref": "#/components/schemas/Thing"}), 0);
        assert_eq!(made, json!({"name": "example", "parts": [1]}));
    }
}
