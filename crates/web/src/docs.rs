//! The API for people: one page made of the OpenAPI document, without scripts and without anything from elsewhere.

use crate::{openapi, problem::Code};
use axum::{
    http::header,
    response::{Html, IntoResponse, Response},
};
use serde_json::Value;
use std::{fmt::Write, sync::OnceLock};

const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = include_str!("docs.css");

pub async fn page() -> Response {
    static PAGE: OnceLock<String> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        let document = serde_json::from_slice(&openapi::json()).unwrap_or_default();
        render(&document)
    });
    ([(header::CONTENT_SECURITY_POLICY, POLICY)], Html(page.as_str())).into_response()
}

pub async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

fn render(document: &Value) -> String {
    let mut html = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Waypost HTTP API</title><link rel=\"stylesheet\" href=\"/docs.css\"></head><body><main>\
         <h1>Waypost HTTP API</h1>\
         <p>JSON over HTTP. Send a key as <code>Authorization: Bearer KEY</code>. \
         For programs: <a href=\"/openapi.json\">openapi.json</a>.</p>",
    );
    for (tag, operations) in by_tag(document) {
        let _ = write!(html, "<section><h2>{}</h2>", escape(&tag));
        for (method, path, operation) in operations {
            render_operation(&mut html, method, path, operation);
        }
        html.push_str("</section>");
    }
    render_codes(&mut html);
    html.push_str("</main></body></html>");
    html
}

type Operation<'a> = (&'a str, &'a str, &'a Value);

/// Operations by their tag, in the document's order.
fn by_tag(document: &Value) -> Vec<(String, Vec<Operation<'_>>)> {
    let mut tags: Vec<(String, Vec<Operation<'_>>)> = vec![];
    let paths = document["paths"].as_object().into_iter().flatten();
    for (path, item) in paths {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let tag = operation["tags"][0].as_str().unwrap_or("other");
            match tags.iter_mut().find(|(name, _)| name == tag) {
                Some((_, list)) => list.push((method, path, operation)),
                None => tags.push((tag.to_owned(), vec![(method, path, operation)])),
            }
        }
    }
    tags
}

fn render_operation(html: &mut String, method: &str, path: &str, operation: &Value) {
    let text = |name: &str| escape(operation[name].as_str().unwrap_or_default());
    let _ = write!(
        html,
        "<article id=\"{id}\"><h3><code>{method} {path}</code></h3><p>{summary} <small>{roles}</small></p>",
        id = text("operationId"),
        method = method.to_uppercase(),
        path = escape(path),
        summary = text("summary"),
        roles = text("description"),
    );
    let params: Vec<&Value> = operation["parameters"].as_array().into_iter().flatten().collect();
    if !params.is_empty() {
        html.push_str("<table><caption>Parameters</caption><tbody>");
        for param in params {
            let _ = write!(
                html,
                "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td>{}</td></tr>",
                escape(param["name"].as_str().unwrap_or_default()),
                escape(param["in"].as_str().unwrap_or_default()),
                escape(param["description"].as_str().unwrap_or_default()),
            );
        }
        html.push_str("</tbody></table>");
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    if !body.is_null() {
        let _ = write!(html, "<p>Takes <code>{}</code></p>", escape(&schema_name(body)));
    }
    html.push_str("<table><caption>Answers</caption><tbody>");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let shape = response["content"].as_object().into_iter().flatten();
        let shape: Vec<String> = shape
            .map(|(_, content)| schema_name(&content["schema"]))
            .collect();
        let _ = write!(
            html,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td><code>{}</code></td></tr>",
            escape(status),
            escape(response["description"].as_str().unwrap_or_default()),
            escape(&shape.join(" | ")),
        );
    }
    html.push_str("</tbody></table></article>");
}

/// `SubmitRequest` for a reference, `[Summary]` for a page, else the plain type.
fn schema_name(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|link| link.rsplit('/').next()) {
        return name.to_owned();
    }
    let items = &schema["properties"]["items"]["items"];
    if !items.is_null() {
        return format!("{{items: [{}], nextCursor}}", schema_name(items));
    }
    schema["type"].as_str().unwrap_or("any").to_owned()
}

fn render_codes(html: &mut String) {
    html.push_str(
        "<section><h2>errors</h2><p>Refusals are <code>application/problem+json</code> with a stable \
         <code>code</code>; <code>errors</code> names every bad field.</p><table><tbody>",
    );
    for code in Code::ALL {
        let _ = write!(
            html,
            "<tr id=\"{0}\"><th scope=\"row\"><code>{0}</code></th><td>{1}</td><td>{2}</td></tr>",
            code.as_str(),
            code.status().as_u16(),
            escape(code.title()),
        );
    }
    html.push_str("</tbody></table></section>");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_of_the_document_is_escaped() {
        let document = json!({"paths": {"/api/<x>": {"get": {
            "tags": ["x"], "summary": "<script>", "operationId": "a\"b", "responses": {}
        }}}});
        let html = render(&document);
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script>"));
        assert!(html.contains("a&quot;b"));
    }
}
