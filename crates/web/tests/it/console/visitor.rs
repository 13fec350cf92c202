//! Somebody with a browser: keeps cookies, follows nothing by itself.

use crate::world::{Answer, World};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, header},
};
use central::users::UserDraft;
use domain::{Actor, TenantId};
use std::collections::BTreeMap;
use store::directory::Role;
use tower::ServiceExt;
use web::console::{Route, SESSION_COOKIE};

#[derive(Debug, Clone)]
pub struct Visitor {
    router: Router,
    cookies: BTreeMap<String, String>,
    /// The secret of the session's forms.
    pub csrf: String,
}

impl Visitor {
    /// Nobody yet.
    pub fn stranger(router: &Router) -> Self {
        Self {
            router: router.clone(),
            cookies: BTreeMap::new(),
            csrf: String::new(),
        }
    }

    /// A new person with this role, signed in.
    pub async fn new(world: &World, tenant: TenantId, role: Role) -> Self {
        let users = &world.central.users;
        let draft = UserDraft {
            name: format!("{role}-{}", central::users::token()),
            password: None,
            tenant,
            role,
        };
        let user = users.create(draft, &Actor::system()).await.unwrap();
        let token = users.open(user, "test").await.unwrap().token;
        let (session, _) = users.session(&token).await.unwrap().unwrap();
        let mut visitor = Self::stranger(&world.router);
        visitor.cookies.insert(SESSION_COOKIE.into(), token);
        visitor.csrf = session.csrf;
        visitor
    }

    pub async fn get(&mut self, path: &str) -> Answer {
        self.send(Request::get(path), String::new()).await
    }

    /// A form whose answer has an address.
    pub async fn get_form(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.get(&format!("{path}?{}", urlencoded(fields))).await
    }

    /// With further headers.
    pub async fn get_with(&mut self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let request = headers.iter().fold(Request::get(path), |request, (name, value)| {
            request.header(*name, *value)
        });
        self.send(request, String::new()).await
    }

    /// Takes the secret of the session's forms from a page, for who signed in by themselves.
    pub fn learn_secret(&mut self, page: &Answer) {
        let (_, rest) = page.text.split_once("name=\"csrf\" value=\"").unwrap();
        self.csrf = rest.split('"').next().unwrap().to_owned();
    }

    /// A form with its secret.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = self.csrf.clone();
        let mut all = vec![("csrf", csrf.as_str())];
        all.extend(fields);
        self.post_only(path, &all, &[]).await
    }

    /// Only these fields, with further headers.
    pub async fn post_only(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request =
            Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request, urlencoded(fields)).await
    }

    async fn send(&mut self, request: axum::http::request::Builder, body: String) -> Answer {
        let cookies: Vec<_> = self.cookies.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let request = request
            .header(header::ACCEPT, "text/html")
            .header(header::HOST, "waypost.example")
            .header(header::COOKIE, cookies.join("; "))
            .body(Body::from(body))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        self.keep(&parts.headers);
        // The live stream never ends by itself; whether it was opened is enough.
        let live = parts
            .headers
            .get("content-type")
            .is_some_and(|kind| kind == "text/event-stream");
        let bytes = match live {
            true => Default::default(),
            false => to_bytes(body, usize::MAX).await.unwrap(),
        };
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    fn keep(&mut self, headers: &HeaderMap) {
        for line in headers.get_all(header::SET_COOKIE) {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.into(), value.into());
        }
    }
}

fn urlencoded(fields: &[(&str, &str)]) -> String {
    let pairs: Vec<_> = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", encode(value)))
        .collect();
    pairs.join("&")
}

pub fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// Where the answer sends the browser.
pub fn location(answer: &Answer) -> &str {
    answer.headers[header::LOCATION].to_str().unwrap()
}

/// A route's path with something in every gap.
pub fn filled(route: &Route, id: &str) -> String {
    route
        .path
        .replace("{id}", id)
        .replace("{name}", "ops")
        .replace("{token}", "none")
        .replace("{test}", "none")
        .replace("{version}", "1")
        .replace("{n}", "1")
}
