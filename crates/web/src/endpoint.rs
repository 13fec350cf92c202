//! One route, declared once: method, path, who may, what it takes and answers, and the handler. The router and the
//! OpenAPI document are both made of these, so neither can have a route the other does not know.

use crate::{
    access::Access,
    auth::{self, Guard},
    dto,
    problem::Code,
    state::Shared,
};
use axum::{
    handler::Handler,
    middleware,
    routing::{MethodFilter, MethodRouter, on},
};
use std::collections::BTreeMap;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ContentBuilder, HttpMethod, ObjectBuilder, Ref, RefOr, Required, ResponseBuilder, Schema,
        path::{Operation, OperationBuilder, ParameterBuilder, ParameterIn},
        request_body::RequestBodyBuilder,
        schema::{ArrayBuilder, SchemaType, Type},
        security::SecurityRequirement,
    },
};

/// The name of the security scheme in the OpenAPI document.
pub const KEY_SCHEME: &str = "apiKey";

/// A query parameter and what it means.
pub type Param = (&'static str, &'static str);

/// A route and everything there is to say about it.
pub struct Endpoint {
    pub method: HttpMethod,
    pub path: &'static str,
    pub access: Access,
    summary: &'static str,
    params: Vec<Param>,
    body: Option<Body>,
    answers: Vec<Answer>,
    refusals: Vec<Code>,
    schemas: Schemas,
    handler: MethodRouter<Shared>,
}

type Schemas = Vec<(String, RefOr<Schema>)>;

struct Body {
    schema: RefOr<Schema>,
    required: bool,
}

struct Answer {
    status: u16,
    what: &'static str,
    media: &'static str,
    schema: Option<RefOr<Schema>>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({:?})", self.method_name(), self.path, self.access)
    }
}

macro_rules! methods {
    ($($name:ident = $filter:ident, $method:ident;)*) => {$(
        pub fn $name<H, T>(path: &'static str, access: Access, summary: &'static str, handler: H) -> Endpoint
        where
            H: Handler<T, Shared>,
            T: 'static,
        {
            Endpoint::new(HttpMethod::$method, path, access, summary, on(MethodFilter::$filter, handler))
        }
    )*};
}

methods! {
    get = GET, Get;
    post = POST, Post;
    put = PUT, Put;
    delete = DELETE, Delete;
}

impl Endpoint {
    fn new(
        method: HttpMethod,
        path: &'static str,
        access: Access,
        summary: &'static str,
        handler: MethodRouter<Shared>,
    ) -> Self {
        Self {
            method,
            path,
            access,
            summary,
            params: vec![],
            body: None,
            answers: vec![],
            refusals: vec![],
            schemas: vec![],
            handler,
        }
    }

    pub fn method_name(&self) -> &'static str {
        match self.method {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
            HttpMethod::Put => "PUT",
            _ => "DELETE",
        }
    }

    /// The query parameters it reads. Any other is refused.
    pub fn params(mut self, params: &[Param]) -> Self {
        self.params.extend(params);
        self
    }

    pub fn body<T: ToSchema>(mut self) -> Self {
        self.body = Some(Body {
            schema: self.schema_of::<T>(),
            required: true,
        });
        self.refuses(&[
            Code::InvalidJson,
            Code::UnsupportedMediaType,
            Code::TooLarge,
            Code::ValidationFailed,
        ])
    }

    pub fn optional_body<T: ToSchema>(self) -> Self {
        let mut with = self.body::<T>();
        if let Some(body) = &mut with.body {
            body.required = false;
        }
        with
    }

    pub fn answers<T: ToSchema>(mut self, status: u16, what: &'static str) -> Self {
        let schema = Some(self.schema_of::<T>());
        self.answers.push(Answer {
            status,
            what,
            media: "application/json",
            schema,
        });
        self
    }

    /// A page of `T`, with the parameters that page it.
    pub fn pages<T: ToSchema>(mut self, what: &'static str) -> Self {
        let item = self.schema_of::<T>();
        let page = ObjectBuilder::new()
            .property("items", ArrayBuilder::new().items(item))
            .property(
                "nextCursor",
                ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Null])),
            )
            .required("items")
            .required("nextCursor");
        let schema = Some(RefOr::T(page.into()));
        self.answers.push(Answer {
            status: 200,
            what,
            media: "application/json",
            schema,
        });
        self
    }

    /// An answer that is not JSON, or none at all (`media` empty).
    pub fn answers_as(mut self, status: u16, media: &'static str, what: &'static str) -> Self {
        let text = || ObjectBuilder::new().schema_type(Type::String).into();
        let schema = (!media.is_empty()).then(text);
        self.answers.push(Answer {
            status,
            what,
            media,
            schema,
        });
        self
    }

    pub fn empty(self, what: &'static str) -> Self {
        self.answers_as(204, "", what)
    }

    /// Refusals of its own, besides those that follow from what it takes.
    pub fn refuses(mut self, codes: &[Code]) -> Self {
        self.refusals.extend(codes);
        self
    }

    /// A shape that an answer carries in a way the document cannot say.
    pub fn mentions<T: ToSchema>(mut self) -> Self {
        self.schema_of::<T>();
        self
    }

    fn schema_of<T: ToSchema>(&mut self) -> RefOr<Schema> {
        let name = T::name().into_owned();
        T::schemas(&mut self.schemas);
        self.schemas.push((name.clone(), <T as PartialSchema>::schema()));
        RefOr::Ref(Ref::from_schema_name(name))
    }

    /// The handler behind its guard.
    pub fn guarded(self, state: &Shared) -> MethodRouter<Shared> {
        let guard = Guard {
            state: state.clone(),
            access: self.access,
            no_params: self.params.is_empty(),
        };
        self.handler
            .route_layer(middleware::from_fn_with_state(guard, auth::guard))
    }

    /// Its part of the OpenAPI document, and the schemas that part refers to.
    pub fn describe(mut self) -> (&'static str, HttpMethod, Operation, Schemas) {
        let problem = self.schema_of::<dto::problem::Problem>();
        let mut operation = OperationBuilder::new()
            .tag(tag(self.path))
            .summary(Some(self.summary))
            .operation_id(Some(operation_id(self.method_name(), self.path)));
        for name in path_params(self.path) {
            operation = operation.parameter(parameter(name, ParameterIn::Path, ""));
        }
        for (name, what) in &self.params {
            operation = operation.parameter(parameter(name, ParameterIn::Query, what));
        }
        if let Some(Body { schema, required }) = &self.body {
            let content = ContentBuilder::new().schema(Some(schema.clone())).build();
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
        for (status, response) in by_status {
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
                        "tenant",
                        ParameterIn::Query,
                        "ops keys only: the tenant's name",
                    ))
            }
        };
        (self.path, self.method, operation.build(), self.schemas)
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
        if !self.params.is_empty() {
            codes.push(Code::ValidationFailed);
        }
        if path_params(self.path).next().is_some() {
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

fn parameter(name: &str, place: ParameterIn, what: &str) -> ParameterBuilder {
    let required = if place == ParameterIn::Path {
        Required::True
    } else {
        Required::False
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(required)
        .description(Some(what).filter(|text| !text.is_empty()))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
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
