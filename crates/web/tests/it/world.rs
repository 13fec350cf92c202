//! What every test here starts from: two tenants with a key of each role, and a way to ask.

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode},
};
use central::{Central, Settings, dispatcher::Dispatcher, secrets::Sealer};
use delivery::{Kind, Registry};
use domain::{Actor, Channel, Clock, Failure, Outcome, Scope, TenantId};
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};
use store::{directory::Role, sources::EventSource};
use testkit::{Database, FarEnd, TempStore};
use tower::ServiceExt;
use web::{Readiness, WebState};

pub struct World {
    pub temp: TempStore,
    pub central: Central,
    pub dispatcher: Dispatcher,
    pub mail: FarEnd,
    pub router: Router,
    pub readiness: Readiness,
    keys: HashMap<(&'static str, Role), String>,
}

/// One answer, read whole.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }

    /// The body, if the answer has the status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        if self.text.is_empty() {
            Value::Null
        } else {
            self.json()
        }
    }

    /// The problem's code, if the answer is a problem with the status.
    #[track_caller]
    pub fn problem(&self, status: u16) -> String {
        let body = self.expect(status);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(body["status"], status);
        body["code"].as_str().unwrap().to_owned()
    }

    /// The names of the bad fields of a 422.
    #[track_caller]
    pub fn bad_fields(&self) -> Vec<String> {
        assert_eq!(self.problem(422), "validation_failed");
        let errors = self.json()["errors"].as_array().unwrap().clone();
        errors
            .iter()
            .map(|e| e["field"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// The tenant that exists from the start.
pub const MINE: &str = "default";
/// Where the outside reaches this installation.
pub const PUBLIC_URL: &str = "https://waypost.example";
/// Another one.
pub const OTHER: &str = "other";

impl World {
    /// In both tenants: a list `ops` and a mail provider `mail`.
    pub async fn new() -> Self {
        Self::with_kinds(vec![]).await
    }

    /// The same, with other kinds of provider besides the scripted ones.
    pub async fn with_kinds(others: Vec<Arc<dyn Kind>>) -> Self {
        Self::on(Database::Sqlite, others).await
    }

    /// The same on either database.
    pub async fn on(database: Database, others: Vec<Arc<dyn Kind>>) -> Self {
        Self::made(TempStore::open_on(database).await, others, vec![]).await
    }

    /// The same, with applications' own databases.
    pub async fn with_sources(sources: Vec<Arc<EventSource>>) -> Self {
        Self::made(TempStore::open(), vec![], sources).await
    }

    async fn made(temp: TempStore, others: Vec<Arc<dyn Kind>>, sources: Vec<Arc<EventSource>>) -> Self {
        let mail = FarEnd::new("test-mail", Channel::Email);
        let hook = FarEnd::new("test-hook", Channel::Webhook);
        let kinds = [vec![mail.kind(), hook.kind()], others].concat();
        let registry = Registry::new(kinds).unwrap();
        let clock: Arc<dyn Clock> = temp.clock.clone();
        let mut settings = Settings {
            public_url: Some(PUBLIC_URL.into()),
            ..Settings::named("node-1")
        };
        settings.events.sources = sources;
        // A sweep is asked for once and has to come to its end, however busy the machine is.
        settings.events.lookup_wait = std::time::Duration::from_secs(60);
        let central = Central::new(temp.store.clone(), registry, Sealer::ephemeral(), clock, settings);
        let other = temp
            .store
            .create_tenant(OTHER, &Actor::system())
            .await
            .unwrap()
            .id;
        let mut keys = HashMap::new();
        for (name, tenant) in [(MINE, TenantId::DEFAULT), (OTHER, other)] {
            for role in Role::ALL {
                let minted = central
                    .keys
                    .create(tenant, role.as_str(), role, &Actor::system())
                    .await
                    .unwrap();
                keys.insert((name, role), minted.text);
            }
        }
        let readiness = Readiness::default();
        let router = web::router(WebState::new(central.clone()).with_readiness(readiness.clone()));
        let dispatcher = central.dispatcher();
        let world = Self {
            temp,
            central,
            dispatcher,
            mail,
            router,
            readiness,
            keys,
        };
        for tenant in [MINE, OTHER] {
            let key = world.key_of(tenant, Role::Admin);
            let list = json!({"name": "ops", "recipients": [{"address": "ops@example.com"}]});
            world
                .ask("POST", "/api/lists", &key, Some(list))
                .await
                .expect(201);
            let provider = json!({"id": "mail", "kind": "test-mail", "settings": {"password": "hunter2"}});
            world
                .ask("POST", "/api/providers", &key, Some(provider))
                .await
                .expect(201);
        }
        world
    }

    pub fn key_of(&self, tenant: &'static str, role: Role) -> String {
        self.keys[&(tenant, role)].clone()
    }

    pub fn key(&self, role: Role) -> String {
        self.key_of(MINE, role)
    }

    /// Asks with a key (`""` for none) and perhaps a JSON body.
    pub async fn ask(&self, method: &str, path: &str, key: &str, body: Option<Value>) -> Answer {
        let mut request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri(path);
        if !key.is_empty() {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let body = match body {
            None => Body::empty(),
            Some(json) => {
                request = request.header("content-type", "application/json");
                Body::from(json.to_string())
            }
        };
        self.send(request.body(body).unwrap()).await
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.key(Role::Viewer), None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, &self.key(Role::Admin), Some(body)).await
    }

    /// A bare POST, as the actions take it.
    pub async fn act(&self, path: &str) -> Answer {
        self.ask("POST", path, &self.key(Role::Operator), None).await
    }

    /// Submits to the list `ops` and answers with the id.
    pub async fn submitted(&self, subject: &str) -> String {
        self.submitted_by(MINE, subject).await
    }

    pub async fn submitted_by(&self, tenant: &'static str, subject: &str) -> String {
        let key = self.key_of(tenant, Role::Producer);
        let body = json!({"listName": "ops", "subject": subject, "body": "text"});
        let answer = self
            .ask("POST", "/api/notifications", &key, Some(body))
            .await
            .expect(202);
        answer["notificationId"].as_str().unwrap().to_owned()
    }

    /// A notification that was refused for good.
    pub async fn parked(&mut self, subject: &str) -> String {
        let refusal = Failure::permanent(Scope::Message, "SMTP_550", "no such mailbox");
        self.mail.answers(Outcome::Failed(refusal));
        let id = self.submitted(subject).await;
        self.dispatcher.sweep().await.unwrap();
        self.mail.accepts();
        assert_eq!(self.status(&id).await, "Parked");
        id
    }

    /// It was sent round again, and is refused again.
    pub async fn parks_again(&mut self, id: &str) {
        let refusal = Failure::permanent(Scope::Message, "SMTP_550", "no such mailbox");
        self.mail.answers(Outcome::Failed(refusal));
        self.dispatcher.sweep().await.unwrap();
        self.mail.accepts();
        assert_eq!(self.status(id).await, "Parked");
    }

    pub async fn delivered(&mut self, subject: &str) -> String {
        let id = self.submitted(subject).await;
        self.dispatcher.sweep().await.unwrap();
        assert_eq!(self.status(&id).await, "Delivered");
        id
    }

    pub async fn status(&self, id: &str) -> String {
        let answer = self
            .get(&format!("/api/notifications/{id}/status"))
            .await
            .expect(200);
        answer["status"].as_str().unwrap().to_owned()
    }

    /// How many notifications the tenant has.
    pub async fn rows(&self) -> usize {
        let page = self.get("/api/notifications?limit=1000").await.expect(200);
        page["items"].as_array().unwrap().len()
    }
}
