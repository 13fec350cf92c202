//! A real Home Assistant as the far end. `scripts/homeassistant` installs it, `scripts/test --soak` runs this.

use crate::node::{Node, Setup};
use client::{Channel, Notification, NotificationId, ProviderDraft};
use domain::{HoldReason, Status};
use serde_json::{Value, json};
use std::{
    fs::File,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use testkit::{eventually, ports::an_address, until};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const USER: &str = "waypost";
const PASSWORD: &str = "correct-horse";
/// Whom it thinks it gives the token to.
const CLIENT: &str = "http://127.0.0.1/";

/// Killed when dropped.
struct Home {
    command: PathBuf,
    folder: PathBuf,
    address: SocketAddr,
    process: Child,
}

impl Home {
    /// With one user, and a notify service that writes to a file.
    async fn start(folder: &Path) -> Self {
        let command =
            std::env::var("WAYPOST_TEST_HASS").expect("WAYPOST_TEST_HASS: what scripts/homeassistant prints");
        let command = PathBuf::from(command);
        let address = an_address();
        let port = address.port();
        let configuration = format!(
            "http:\n  server_host: 127.0.0.1\n  server_port: {port}\napi:\nnotify:\n  - name: log\n    platform: file\n    \
             filename: notes.txt\n"
        );
        std::fs::write(folder.join("configuration.yaml"), configuration).unwrap();
        let added = Command::new(&command)
            .args(["--script", "auth", "-c"])
            .arg(folder)
            .args(["add", USER, PASSWORD])
            .output()
            .unwrap();
        assert!(added.status.success(), "{added:?}");
        let process = run(&command, folder);
        let home = Self {
            command,
            folder: folder.into(),
            address,
            process,
        };
        home.answers().await;
        home
    }

    async fn answers(&self) {
        until("Home Assistant to answer", async || {
            let answer = ask(self.address, "/api/services/notify/log", "{}").await;
            answer.is_some_and(|answer| answer.starts_with("HTTP/1.1 401"))
        })
        .await;
    }

    fn stop(&mut self) {
        let stopped = Command::new("kill").arg(self.process.id().to_string()).status();
        assert!(stopped.unwrap().success());
        self.process.wait().unwrap();
    }

    fn start_again(&mut self) {
        self.process = run(&self.command, &self.folder);
    }

    /// As an app signs in: the flow, its code, the token.
    async fn token(&self) -> String {
        let login =
            json!({ "client_id": CLIENT, "redirect_uri": CLIENT, "handler": ["homeassistant", null] });
        let flow = self.asked("/auth/login_flow", &login.to_string()).await;
        let step = format!("/auth/login_flow/{}", flow["flow_id"].as_str().unwrap());
        let who = json!({ "client_id": CLIENT, "username": USER, "password": PASSWORD });
        let done = self.asked(&step, &who.to_string()).await;
        let code = done["result"].as_str().unwrap_or_else(|| panic!("{done}"));
        let form = format!("grant_type=authorization_code&code={code}&client_id={CLIENT}");
        let given = self.asked("/auth/token", &form).await;
        given["access_token"]
            .as_str()
            .unwrap_or_else(|| panic!("{given}"))
            .into()
    }

    /// The API answers before the services are there.
    async fn has_its_services(&self, token: &str) {
        let address = self.address;
        let request = format!(
            "GET /api/services HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        until("Home Assistant's services", async || {
            let answer = exchange(address, &request).await.unwrap_or_default();
            ["\"log\"", "\"persistent_notification\""]
                .iter()
                .all(|service| answer.contains(service))
        })
        .await;
    }

    async fn asked(&self, path: &str, body: &str) -> Value {
        let answer = ask(self.address, path, body).await.unwrap();
        let (_, said) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(said).unwrap_or_else(|_| panic!("{path}: {answer}"))
    }

    fn notes(&self) -> String {
        std::fs::read_to_string(self.folder.join("notes.txt")).unwrap_or_default()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run(command: &Path, folder: &Path) -> Child {
    let said = File::options().create(true).append(true).open(folder.join("out"));
    let said = said.unwrap();
    let mut run = Command::new(command);
    run.arg("-c").arg(folder).stdin(Stdio::null());
    run.stdout(said.try_clone().unwrap()).stderr(said);
    run.spawn().unwrap()
}

/// None while nobody listens.
async fn ask(address: SocketAddr, path: &str, body: &str) -> Option<String> {
    let kind = match body.starts_with('{') {
        true => "application/json",
        false => "application/x-www-form-urlencoded",
    };
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    exchange(address, &request).await
}

/// None while nobody listens.
async fn exchange(address: SocketAddr, request: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = vec![];
    stream.read_to_end(&mut answer).await.ok()?;
    Some(String::from_utf8_lossy(&answer).into_owned())
}

fn provider(home: &Home, token: &str) -> ProviderDraft {
    let settings =
        json!({ "url": format!("http://{}", home.address), "token": token, "service": "notify.log" });
    ProviderDraft {
        id: Some("home".into()),
        kind: "homeassistant".into(),
        settings: settings.as_object().cloned().unwrap(),
        retry: Some(
            json!({ "shape": "fixed", "interval": "1s", "cap": "1s", "jitter": 0.0, "maxAttempts": 200 }),
        ),
        ..ProviderDraft::default()
    }
}

async fn send(node: &Node, body: &str, data: Option<Value>) -> NotificationId {
    let message = Notification::default().channel(Channel::HomeAssistant);
    let message = message.subject("Boiler").body(body);
    let message = match data {
        Some(data) => message.type_data(data),
        None => message,
    };
    node.client.submit(&message).await.unwrap().notification_id
}

async fn arrives(node: &Node, id: NotificationId) {
    until("the message to arrive", async || {
        node.client.status(id).await.unwrap().status == Status::Delivered
    })
    .await;
}

async fn failed_as(node: &Node, id: NotificationId) -> String {
    eventually("a failed attempt", async || {
        node.client.status(id).await.unwrap().error_code
    })
    .await
}

#[tokio::test]
#[ignore = "needs a real Home Assistant: scripts/test --soak brings one"]
async fn a_real_home_assistant_shows_what_it_is_sent_and_is_waited_for_while_it_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let own = tempfile::tempdir().unwrap();
    let mut home = Home::start(own.path()).await;
    let token = home.token().await;
    home.has_its_services(&token).await;
    let node = Node::start(&Setup::sqlite(folder.path())).await;
    node.client
        .create_provider(&provider(&home, &token))
        .await
        .unwrap();
    let tested = node.client.test_provider("home", None).await.unwrap();
    assert!(tested.ok, "{tested:?}");

    let id = send(&node, "93 degrees", None).await;
    arrives(&node, id).await;
    assert_eq!(home.notes().matches("93 degrees").count(), 1, "{}", home.notes());
    let onto_its_screen = json!({ "service": "persistent_notification.create" });
    let id = send(&node, "94 degrees", Some(onto_its_screen)).await;
    arrives(&node, id).await;

    // Its own words for a service that it does not have.
    let nobody = send(&node, "95 degrees", Some(json!({ "service": "notify.nobody" }))).await;
    assert_eq!(failed_as(&node, nobody).await, "VALIDATION");
    let report = node.client.status(nobody).await.unwrap();
    assert_eq!(
        report.status,
        Status::Retrying,
        "its integration may still be starting"
    );

    let wrong = provider(&home, "not-the-token");
    node.client.replace_provider("home", &wrong).await.unwrap();
    let id = send(&node, "96 degrees", None).await;
    until("the lane to be held", async || {
        let hold = node.client.provider("home").await.unwrap().hold;
        hold.is_some_and(|hold| hold.reason == HoldReason::Auth)
    })
    .await;
    let right = provider(&home, &token);
    node.client.replace_provider("home", &right).await.unwrap();
    arrives(&node, id).await;

    home.stop();
    let id = send(&node, "97 degrees", None).await;
    assert_eq!(failed_as(&node, id).await, "NETWORK");
    home.start_again();
    arrives(&node, id).await;
    assert_eq!(home.notes().matches("97 degrees").count(), 1, "{}", home.notes());
}
