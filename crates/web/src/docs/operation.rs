//! The operations of the document, as the page shows them.

use super::{
    curl,
    shape::{self, Field, Piece, text},
};
use serde_json::Value;

/// Operations of one tag.
#[derive(Debug)]
pub struct Group {
    pub name: String,
    pub operations: Vec<Operation>,
}

#[derive(Debug)]
pub struct Operation {
    pub id: String,
    pub method: String,
    pub path: String,
    pub summary: String,
    /// "For keys of role viewer or admin."
    pub roles: String,
    pub params: Vec<Param>,
    pub body: Option<Body>,
    pub answers: Vec<Answer>,
    pub refusals: Vec<Refusal>,
    /// A command for the shell.
    pub example: String,
}

#[derive(Debug)]
pub struct Param {
    pub name: String,
    /// `path` or `query`.
    pub place: String,
    pub kind: Vec<Piece>,
    pub required: bool,
    pub what: String,
}

#[derive(Debug)]
pub struct Body {
    pub kind: Vec<Piece>,
    pub required: bool,
    pub what: String,
    pub fields: Vec<Field>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: String,
    pub what: String,
    pub media: String,
    pub kind: Vec<Piece>,
    pub fields: Vec<Field>,
}

#[derive(Debug)]
pub struct Refusal {
    pub status: String,
    pub codes: Vec<String>,
}

/// Operations by their tag, in the document's order.
pub fn by_tag(document: &Value, origin: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = vec![];
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, told) in item.as_object().into_iter().flatten() {
            let operation = operation(document, origin, (method, path), told);
            let tag = told["tags"][0].as_str().unwrap_or("other");
            match groups.iter_mut().find(|group| group.name == tag) {
                Some(group) => group.operations.push(operation),
                None => groups.push(Group {
                    name: tag.to_owned(),
                    operations: vec![operation],
                }),
            }
        }
    }
    groups
}

fn operation(document: &Value, origin: &str, (method, path): (&str, &str), told: &Value) -> Operation {
    let params = told["parameters"].as_array().into_iter().flatten();
    let params = params.map(|param| Param {
        name: text(param, "name"),
        place: text(param, "in"),
        kind: shape::kind(&param["schema"]),
        required: param["required"] == true,
        what: text(param, "description"),
    });
    let (answers, refusals) = answers(document, told);
    Operation {
        id: text(told, "operationId"),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(told, "summary"),
        roles: text(told, "description"),
        params: params.collect(),
        body: body(document, &told["requestBody"]),
        answers,
        refusals,
        example: curl::command(document, origin, (method, path), told),
    }
}

fn body(document: &Value, told: &Value) -> Option<Body> {
    let schema = &told["content"]["application/json"]["schema"];
    if schema.is_null() {
        return None;
    }
    let named = shape::named(schema).map(|name| &document["components"]["schemas"][name]);
    Some(Body {
        kind: shape::kind(schema),
        required: told["required"] == true,
        what: text(named.unwrap_or(schema), "description"),
        fields: shape::fields(document, schema),
    })
}

/// What it answers, and with which codes it refuses.
fn answers(document: &Value, told: &Value) -> (Vec<Answer>, Vec<Refusal>) {
    let (mut answers, mut refusals) = (vec![], vec![]);
    for (status, response) in told["responses"].as_object().into_iter().flatten() {
        let what = text(response, "description");
        let contents = response["content"].as_object();
        if contents.is_some_and(|all| all.contains_key("application/problem+json")) {
            let codes = what.split(", ").map(str::to_owned).collect();
            let status = status.clone();
            refusals.push(Refusal { status, codes });
            continue;
        }
        let answer = |media: &str, schema: &Value| Answer {
            status: status.clone(),
            what: what.clone(),
            media: media.to_owned(),
            kind: if schema.is_null() {
                vec![]
            } else {
                shape::kind(schema)
            },
            fields: shape::fields(document, schema),
        };
        match contents.filter(|all| !all.is_empty()) {
            Some(all) => answers.extend(
                all.iter()
                    .map(|(media, content)| answer(media, &content["schema"])),
            ),
            None => answers.push(answer("", &Value::Null)),
        }
    }
    (answers, refusals)
}
