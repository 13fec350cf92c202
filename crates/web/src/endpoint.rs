//! One route, declared once: method, path, who may, what it takes and answers, and the handler. The router and the
//! OpenAPI document are both made of these, so neither can have a route the other does not know.

use crate::{
    access::Access,
    auth::{self, Guard},
    problem::Code,
    state::Shared,
};
use axum::{
    handler::Handler,
    middleware,
    routing::{MethodFilter, MethodRouter, on},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        HttpMethod, ObjectBuilder, Ref, RefOr, Schema,
        schema::{ArrayBuilder, SchemaType, Type},
    },
};

/// A query parameter and what it means.
pub type Param = (&'static str, &'static str);

/// A route and everything there is to say about it.
pub struct Endpoint {
    pub method: HttpMethod,
    pub path: &'static str,
    pub access: Access,
    pub(crate) summary: &'static str,
    pub(crate) params: Vec<Param>,
    pub(crate) body: Option<Body>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) refusals: Vec<Code>,
    pub(crate) schemas: Schemas,
    handler: MethodRouter<Shared>,
}

pub(crate) type Schemas = Vec<(String, RefOr<Schema>)>;

pub(crate) struct Body {
    pub schema: RefOr<Schema>,
    pub required: bool,
}

pub(crate) struct Answer {
    pub status: u16,
    pub what: &'static str,
    pub media: &'static str,
    pub schema: Option<RefOr<Schema>>,
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
            Code::Timeout,
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

    /// An answer whose shape is another document's, or none at all (`media` empty).
    pub fn answers_as(mut self, status: u16, media: &'static str, what: &'static str) -> Self {
        let shape = match media {
            "application/json" => Type::Object,
            _ => Type::String,
        };
        let schema = (!media.is_empty()).then(|| ObjectBuilder::new().schema_type(shape).into());
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

    pub(crate) fn schema_of<T: ToSchema>(&mut self) -> RefOr<Schema> {
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
}
