//! What a route is in the OpenAPI document.

use crate::{
    access::Access,
    dto,
    endpoint::{Answer, Body, Endpoint, Schemas},
    examples,
    problem::Code,
};
use domain::{AuditKind, AuditStatus};
use std::collections::BTreeMap;
use store::directory::Role;
use utoipa::openapi::{
    ContentBuilder, HttpMethod, ObjectBuilder, RefOr, Required, ResponseBuilder, Schema,
    extensions::ExtensionsBuilder,
    path::{Operation, OperationBuilder, ParameterBuilder, ParameterIn},
    request_body::RequestBodyBuilder,
    schema::{KnownFormat, SchemaFormat, Type},
    security::SecurityRequirement,
};

const AUDIT: &str = "/api/audit";
/// The name of the security scheme in the OpenAPI document.
pub const KEY_SCHEME: &str = "apiKey";

impl Endpoint {
    /// Its part of the OpenAPI document, and the schemas that part refers to.
    pub fn describe(mut self) -> (&'static str, HttpMethod, Operation, Schemas) {
        let problem = self.schema_of::<dto::problem::Problem>();
        let mut operation = OperationBuilder::new()
            .tag(tag(self.path))
            .summary(Some(self.summary))
            .operation_id(Some(operation_id(self.method_name(), self.path)));
        for name in path_params(self.path) {
            let example = examples::in_path(self.path, name);
            operation = operation
                .parameter(parameter((self.path, name), ParameterIn::Path, "").example(Some(example.into())));
        }
        for (name, what) in &self.params {
            operation = operation.parameter(parameter((self.path, name), ParameterIn::Query, what));
        }
        if let Some(Body { schema, required }) = &self.body {
            let in_path = path_params(self.path).next().is_some();
            let example = shape_name(schema).and_then(|name| examples::body(name, in_path));
            let content = ContentBuilder::new()
                .schema(Some(schema.clone()))
                .example(example)
                .build();
            let required = if *required {
                Required::True
            } else {
                Required::False
            };
            let body = RequestBodyBuilder::new()
                .content("application/json", content)
                .required(Some(required));
            operation = operation.request_body(Some(body.build()));
        }
        for (status, response) in self.responses(&problem) {
            operation = operation.response(status.to_string(), response.build());
        }
        let operation = match self.access {
            Access::Open => operation,
            access => {
                let roles = access.roles().iter().map(|role| role.as_str());
                operation
                    .description(Some(format!("For keys of role {}.", access.in_words())))
                    .security(SecurityRequirement::new(KEY_SCHEME, roles))
                    .parameter(parameter(
                        (self.path, "tenant"),
                        ParameterIn::Query,
                        "ops keys only: the tenant's name",
                    ))
            }
        };
        let mut operation = operation.build();
        let query = match self.method {
            HttpMethod::Get => examples::query(self.path),
            _ => "",
        };
        if !query.is_empty() {
            operation.extensions = Some(ExtensionsBuilder::new().add("x-example-query", query).build());
        }
        (self.path, self.method, operation, self.schemas)
    }

    /// What it answers, by status.
    fn responses(&self, problem: &RefOr<Schema>) -> BTreeMap<u16, ResponseBuilder> {
        let mut by_status = BTreeMap::<u16, ResponseBuilder>::new();
        for Answer {
            status,
            what,
            media,
            schema,
        } in &self.answers
        {
            let response = by_status
                .remove(status)
                .unwrap_or_else(|| ResponseBuilder::new().description(*what));
            let response = match schema {
                None => response,
                Some(schema) => {
                    response.content(*media, ContentBuilder::new().schema(Some(schema.clone())).build())
                }
            };
            by_status.insert(*status, response);
        }
        for (status, codes) in self.refusals_by_status() {
            let content = ContentBuilder::new().schema(Some(problem.clone())).build();
            let response = ResponseBuilder::new()
                .description(codes)
                .content("application/problem+json", content);
            by_status.entry(status).or_insert(response);
        }
        by_status
    }

    /// The codes of each status, in words.
    fn refusals_by_status(&self) -> BTreeMap<u16, String> {
        let mut codes = self.refusals.clone();
        if self.access != Access::Open {
            codes.extend([
                Code::Unauthorized,
                Code::Forbidden,
                Code::Internal,
                Code::Unavailable,
            ]);
        }
        // A parameter that a route does not know is refused everywhere.
        codes.push(Code::ValidationFailed);
        // Who may choose a tenant may choose one that is not there.
        let chooses_tenant = self.access.roles().contains(&Role::Ops);
        if chooses_tenant || path_params(self.path).next().is_some() {
            codes.push(Code::NotFound);
        }
        let mut by_status = BTreeMap::<u16, Vec<&str>>::new();
        for code in codes {
            let names = by_status.entry(code.status().as_u16()).or_default();
            if !names.contains(&code.as_str()) {
                names.push(code.as_str());
            }
        }
        by_status
            .into_iter()
            .map(|(status, names)| (status, names.join(", ")))
            .collect()
    }
}

/// The name of the shape that a schema refers to.
fn shape_name(schema: &RefOr<Schema>) -> Option<&str> {
    match schema {
        RefOr::Ref(link) => link.ref_location.rsplit('/').next(),
        RefOr::T(_) => None,
    }
}

fn parameter((path, name): (&str, &str), place: ParameterIn, what: &str) -> ParameterBuilder {
    let required = if place == ParameterIn::Path {
        Required::True
    } else {
        Required::False
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place.clone())
        .required(required)
        .description(Some(what).filter(|text| !text.is_empty()))
        .schema(Some(kind((path, name), place)))
}

/// What is read from a parameter. A name is read alike wherever it stands, but for the audit log, which has kinds and outcomes
/// of its own.
fn kind((path, name): (&str, &str), place: ParameterIn) -> ObjectBuilder {
    let schema = ObjectBuilder::new();
    let text = ObjectBuilder::new().schema_type(Type::String);
    match name {
        _ if place == ParameterIn::Path => text,
        "kind" if path == AUDIT => text.enum_values(Some(AuditKind::ALL.iter().map(|kind| kind.as_str()))),
        "status" if path == AUDIT => {
            text.enum_values(Some(AuditStatus::ALL.iter().map(|status| status.as_str())))
        }
        "limit" => schema.schema_type(Type::Integer).minimum(Some(1)),
        "stuck" | "retried" | "active" | "deleted" | "removed" => schema.schema_type(Type::Boolean),
        "from" | "to" => schema
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))),
        _ => text,
    }
}

/// `id` of `/api/jobs/{id}`.
pub fn path_params(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn tag(path: &str) -> &str {
    match path.strip_prefix("/api/") {
        Some(rest) => rest.split('/').next().unwrap_or("api"),
        None => "system",
    }
}

/// `getApiJobsById`: unique because method and path are.
fn operation_id(method: &str, path: &str) -> String {
    let mut id = method.to_lowercase();
    for part in path.split(['/', '-', '.']).filter(|part| !part.is_empty()) {
        let (by, word) = match part.strip_prefix('{') {
            Some(name) => ("By", name.trim_end_matches('}')),
            None => ("", part),
        };
        id.push_str(by);
        let mut letters = word.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id.push_str(letters.as_str());
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_paths() {
        assert_eq!(operation_id("GET", "/api/jobs/{id}"), "getApiJobsById");
        assert_eq!(operation_id("GET", "/openapi.json"), "getOpenapiJson");
        assert_eq!(tag("/api/lists/{name}/recipients"), "lists");
        assert_eq!(tag("/healthz"), "system");
        assert_eq!(
            path_params("/api/lists/{name}/recipients/{address}").collect::<Vec<_>>(),
            ["name", "address"]
        );
    }
}
