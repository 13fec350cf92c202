//! What a person with a browser, or a program with a key, gets to see of a node.

use crate::node::{KEY, Setup};
use std::process::Command;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Asks a node, with a key until somebody has signed in.
pub struct Browser {
    /// `127.0.0.1:8080`.
    host: String,
    cookie: Option<String>,
}

impl Browser {
    pub fn at(url: &str) -> Self {
        let host = url.trim_start_matches("http://").trim_end_matches('/');
        Self {
            host: host.to_owned(),
            cookie: None,
        }
    }

    /// With the link that a new user is given.
    pub async fn signed_in(url: &str, setup: &Setup) -> Self {
        let added = Command::new(env!("CARGO_BIN_EXE_waypost"))
            .args(["user", "add", "ann", "--role", "admin"])
            .env("WAYPOST_DATABASE__URL", &setup.database)
            .env_remove("WAYPOST_CONFIG")
            .current_dir(&setup.folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&added.stdout).into_owned();
        let (_, token) = said
            .trim()
            .rsplit_once('/')
            .unwrap_or_else(|| panic!("{added:?}"));
        let mut browser = Self::at(url);
        let link = format!("/sign-in/link/{token}");
        let page = browser.get(&link).await;
        browser.cookie = cookies(&page);
        let answer = browser.post(&link, &csrf(&page), &[]).await;
        browser.cookie = cookies(&answer);
        assert!(browser.cookie.is_some(), "{answer}");
        browser
    }

    /// The whole answer, head and all.
    pub async fn get(&self, path: &str) -> String {
        self.ask("GET", path, "").await
    }

    pub async fn post(&self, path: &str, csrf: &str, fields: &[(&str, &str)]) -> String {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("csrf", csrf);
        form.extend_pairs(fields);
        self.ask("POST", path, &form.finish()).await
    }

    /// The page that an answer sends the browser to.
    pub async fn follow(&self, answer: &str) -> String {
        let mut heads = answer.lines().filter_map(|line| line.split_once(": "));
        let place = heads.find(|(name, _)| name.eq_ignore_ascii_case("location"));
        let (_, place) = place.unwrap_or_else(|| panic!("{answer}"));
        self.get(place.trim()).await
    }

    async fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let who = match &self.cookie {
            Some(cookie) => format!("cookie: {cookie}"),
            None => format!("authorization: Bearer {KEY}"),
        };
        let host = &self.host;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\nconnection: close\r\n{who}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(host).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![];
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn cookies(answer: &str) -> Option<String> {
    let set = answer.lines().filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("set-cookie").then_some(value)
    });
    let pairs: Vec<_> = set.filter_map(|value| value.split(';').next()).collect();
    (!pairs.is_empty()).then(|| pairs.join("; "))
}

/// The secret of a page's forms.
pub fn csrf(page: &str) -> String {
    let (_, rest) = page
        .split_once("name=\"csrf\" value=\"")
        .unwrap_or_else(|| panic!("{page}"));
    rest.split('"').next().unwrap_or_default().to_owned()
}
