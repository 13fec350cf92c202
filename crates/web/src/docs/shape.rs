//! Schemas of the document as tables of fields.

use serde_json::{Map, Value};

/// How deep one schema is looked into another: deeper ones are linked to.
const MAX_DEPTH: usize = 8;

/// A piece of a type in words.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(String),
    /// The name of a shape, which has a table of its own.
    Link(String),
}

/// One field of a shape.
#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub required: bool,
    pub kind: Vec<Piece>,
    /// "at most 200 characters"
    pub limits: String,
    pub what: String,
}

/// A named schema.
#[derive(Debug)]
pub struct Shape {
    pub name: String,
    pub what: String,
    pub fields: Vec<Field>,
    /// The words it may be, if it is one of several.
    pub words: Vec<String>,
    /// What it is when it has no fields.
    pub kind: String,
}

/// Every shape there is, by name.
pub fn all(document: &Value) -> Vec<Shape> {
    let schemas = document["components"]["schemas"].as_object();
    let shapes = schemas.into_iter().flatten().map(|(name, schema)| Shape {
        name: name.clone(),
        what: text(schema, "description"),
        fields: fields(document, schema),
        words: words(schema),
        kind: plain(schema),
    });
    shapes.collect()
}

/// The name a reference ends in.
pub fn named(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The fields of an object, those of what is flattened into it included.
pub fn fields(document: &Value, schema: &Value) -> Vec<Field> {
    let mut found = vec![];
    gather(document, schema, 0, &mut found);
    found
}

fn gather(document: &Value, schema: &Value, depth: usize, into: &mut Vec<Field>) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(name) = named(schema) {
        return gather(
            document,
            &document["components"]["schemas"][name],
            depth + 1,
            into,
        );
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        gather(document, part, depth + 1, into);
    }
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        if into.iter().any(|known| known.name == *name) {
            continue;
        }
        into.push(Field {
            name: name.clone(),
            required: required.iter().any(|one| *one == name),
            kind: kind(inner),
            limits: limits(inner),
            what: text(inner, "description"),
        });
    }
}

/// A type in words: "array of Recipient", "text or null".
pub fn kind(schema: &Value) -> Vec<Piece> {
    if let Some(name) = named(schema) {
        return vec![Piece::Link(name.to_owned())];
    }
    let choices = ["oneOf", "anyOf"]
        .iter()
        .find_map(|name| schema[*name].as_array());
    if let Some(choices) = choices {
        let mut pieces = vec![];
        for (place, choice) in choices.iter().filter(|one| one["type"] != "null").enumerate() {
            if place > 0 {
                pieces.push(Piece::Text(" or ".into()));
            }
            pieces.extend(kind(choice));
        }
        if choices.iter().any(|one| one["type"] == "null") {
            pieces.push(Piece::Text(" or null".into()));
        }
        return pieces;
    }
    if !schema["items"].is_null() {
        let nullable = schema["type"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one == "null"));
        let mut pieces = vec![Piece::Text("array of ".into())];
        pieces.extend(kind(&schema["items"]));
        if nullable {
            pieces.push(Piece::Text(" or null".into()));
        }
        return pieces;
    }
    vec![Piece::Text(plain(schema))]
}

/// The type of a schema that refers to no other.
fn plain(schema: &Value) -> String {
    let word = |one: &Value| match one.as_str().unwrap_or("any") {
        "string" => "text".to_owned(),
        other => other.to_owned(),
    };
    let mut text = match &schema["type"] {
        Value::Array(several) => several.iter().map(word).collect::<Vec<_>>().join(" or "),
        one => word(one),
    };
    if let Some(format) = schema["format"]
        .as_str()
        .filter(|format| !format.starts_with("int"))
    {
        text = format!("{text} ({format})");
    }
    let words = words(schema);
    match words.is_empty() {
        true => text,
        false => format!("one of {}", words.join(", ")),
    }
}

fn words(schema: &Value) -> Vec<String> {
    let all = schema["enum"].as_array().into_iter().flatten();
    all.filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

/// The bounds in words.
fn limits(schema: &Value) -> String {
    const BOUNDS: [(&str, &str, &str); 7] = [
        ("minLength", "at least ", " characters"),
        ("maxLength", "at most ", " characters"),
        ("minItems", "at least ", " items"),
        ("maxItems", "at most ", " items"),
        ("minimum", "at least ", ""),
        ("maximum", "at most ", ""),
        ("pattern", "as ", ""),
    ];
    let empty = Map::new();
    let schema = schema.as_object().unwrap_or(&empty);
    let told = BOUNDS.iter().filter_map(|(name, before, after)| {
        let bound = schema.get(*name)?;
        let bound = bound.as_str().map_or_else(|| bound.to_string(), str::to_owned);
        Some(format!("{before}{bound}{after}"))
    });
    told.collect::<Vec<_>>().join(", ")
}

pub fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(schema: Value) -> String {
        let pieces = kind(&schema).into_iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Link(text) => text,
        });
        pieces.collect()
    }

    #[test]
    fn types_read_as_words() {
        assert_eq!(said(json!({"type": ["string", "null"]})), "text or null");
        assert_eq!(
            said(json!({"type": "array", "items": {"$ref": "#/components/schemas/Entry"}})),
            "array of Entry"
        );
        let choice = json!({"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Time"}]});
        assert_eq!(said(choice), "Time or null");
        assert_eq!(said(json!({"type": "string", "enum": ["a", "b"]})), "one of a, b");
        assert_eq!(
            limits(&json!({"maxLength": 200, "minLength": 1})),
            "at least 1 characters, at most 200 characters"
        );
    }

    #[test]
    fn what_is_flattened_into_a_shape_is_among_its_fields() {
        let document = json!({"components": {"schemas": {
            "Whole": {"allOf": [{"$ref": "#/components/schemas/Part"}, {"type": "object", "required": ["b"], "properties": {"b": {}}}]},
            "Part": {"type": "object", "required": ["a"], "properties": {"a": {}, "c": {}}},
        }}});
        let found = fields(&document, &json!({"$ref": "#/components/schemas/Whole"}));
        let told: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.required)).collect();
        assert_eq!(told, [("a", true), ("c", false), ("b", true)]);
    }
}
