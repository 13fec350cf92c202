//! The commands of `examples/bookings/README.md`, word by word, on SQLite and on PostgreSQL. The application's own lines are run in
//! this process, everything else by a shell.

use client::{
    Client,
    events::{EventFilter, ScheduleRow},
};
use domain::ScheduleStatus;
use serde_json::Value;
use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use testkit::{eventually, ports::an_address};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bookings");
const APPLICATION: &str = "cargo run -q -p bookings -- ";
/// What the page calls the application's database.
const DATABASE: &str = "sqlite://bookings.db";
/// What it is called by lookups on PostgreSQL.
const READER_URL: &str = "postgres://rentals_reader@127.0.0.1/rentals";

/// The same database for the role that only reads.
fn as_reader(url: &str) -> String {
    let place = url.split_once("://").map_or(url, |(_, place)| place);
    let place = place.split_once('@').map_or(place, |(_, place)| place);
    format!("postgres://rentals_reader@{place}")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(std::fs::copy(from, to).unwrap()),
        }
    }
}

/// A shell that is given one line after the other. What it started ends with it.
struct Shell {
    child: Child,
    folder: PathBuf,
    lines: usize,
}

impl Shell {
    fn start(folder: &Path, ports: &Ports, env: &[(&str, &str)]) -> Self {
        let log = File::create(folder.join("shell.log")).unwrap();
        let binary = Path::new(env!("CARGO_BIN_EXE_waypost")).parent().unwrap();
        let mut path = binary.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let child = Command::new("bash")
            .current_dir(folder)
            .env("PATH", path)
            .env("WAYPOST_URL", ports.api_url())
            .env("WAYPOST_SERVER__LISTEN", format!("127.0.0.1:{}", ports.api))
            .env("WAYPOST_SERVER__LINK_LISTEN", format!("127.0.0.1:{}", ports.link))
            .envs(env.iter().copied())
            .env_remove("WAYPOST_API_KEY")
            .stdin(Stdio::piped())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut shell = Self {
            child,
            folder: folder.into(),
            lines: 0,
        };
        shell.feed("trap 'kill $(jobs -p)' EXIT");
        shell
    }

    fn feed(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }

    /// Runs a line and waits until it is over; one in the background is over at once.
    async fn run(&mut self, line: &str) {
        self.lines += 1;
        let done = self.folder.join(format!("line-{}", self.lines));
        let name = done.display();
        self.feed(line);
        self.feed(&format!("echo $? > {name}.tmp && mv {name}.tmp {name}"));
        let status = eventually(line, async || std::fs::read_to_string(&done).ok()).await;
        assert_eq!(status.trim(), "0", "{line}\n{}", self.log());
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("shell.log")).unwrap_or_default()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // The end of its input ends the shell, and the trap ends what it started.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

struct Ports {
    api: u16,
    link: u16,
    mail: u16,
    http: u16,
}

impl Ports {
    fn free() -> Self {
        let [api, link, mail, http] = [(); 4].map(|()| an_address().port());
        Self {
            api,
            link,
            mail,
            http,
        }
    }

    fn api_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.api)
    }

    /// The line with the ports of this test.
    fn moved(&self, line: &str) -> String {
        let simulate = format!(
            "waypost simulate --smtp 127.0.0.1:{} --http 127.0.0.1:{}",
            self.mail, self.http
        );
        line.replace("waypost simulate", &simulate)
            .replace("port=2525", &format!("port={}", self.mail))
            .replace("127.0.0.1:8025", &format!("127.0.0.1:{}", self.http))
    }
}

struct Example {
    shell: Shell,
    ports: Ports,
    /// As the application is told.
    database: String,
    client: Option<Client>,
}

impl Example {
    /// The application in this database; what Waypost is told besides.
    fn new(folder: &Path, config: &str, database: (&str, &str), env: &[(&str, &str)]) -> Self {
        let (database, application) = database;
        copy(Path::new(EXAMPLE), folder);
        let config = std::fs::read_to_string(folder.join(config)).unwrap();
        let written = config
            .split("url = \"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let config = config.replace(written, database);
        let config = config.replace(READER_URL, &as_reader(database));
        std::fs::write(folder.join("waypost.toml"), config).unwrap();
        let ports = Ports::free();
        Self {
            shell: Shell::start(folder, &ports, env),
            ports,
            database: application.into(),
            client: None,
        }
    }

    async fn run(&mut self, line: &str) {
        match line.strip_prefix(APPLICATION) {
            Some(words) => {
                let words = words.replace(DATABASE, &self.database);
                let words: Vec<&str> = words.split_whitespace().collect();
                bookings::run(&words).await.unwrap();
                #[cfg(feature = "postgres-tests")]
                if words.contains(&"setup") && self.database.starts_with("postgres") {
                    make_reader(&self.shell.folder, &self.database).await;
                }
            }
            None => self.shell.run(&self.ports.moved(line)).await,
        }
        if line.starts_with("waypost simulate") {
            // A reader is slower than a script.
            let there = format!("http://127.0.0.1:{}/simulator/received", self.ports.http);
            let waiting = format!("until curl -fsS {there} >there; do sleep 0.2; done");
            self.shell.run(&waiting).await;
        }
    }

    async fn client(&mut self) -> Client {
        if self.client.is_none() {
            self.shell.run("echo $WAYPOST_API_KEY > own-key").await;
            let key = std::fs::read_to_string(self.shell.folder.join("own-key")).unwrap();
            self.client = Some(Client::new(&self.ports.api_url(), key.trim()).unwrap());
        }
        self.client.clone().unwrap()
    }

    /// The booking's schedules, once so many of this type are like this.
    async fn schedules(&mut self, event_type: &str, n: usize, status: ScheduleStatus) -> Vec<ScheduleRow> {
        let client = self.client().await;
        let filter = EventFilter {
            entity_type: Some("booking".into()),
            entity_id: Some("12345".into()),
            ..EventFilter::default()
        };
        let what = format!("{n} schedules of {event_type} that are {status}");
        eventually(&what, async || {
            let mut found = client.schedules(&filter, 100).await.ok()?;
            found.retain(|s| s.event_type == event_type && s.status == status);
            (found.len() == n).then_some(found)
        })
        .await
    }

    /// What the far ends took: service, recipient and text of each.
    async fn arrived(&mut self) -> Vec<(String, String, String)> {
        let url = format!("http://127.0.0.1:{}/simulator/received", self.ports.http);
        self.shell.run(&format!("curl -fsS {url} > arrived.json")).await;
        let text = std::fs::read_to_string(self.shell.folder.join("arrived.json")).unwrap();
        let arrived: Value = serde_json::from_str(&text).unwrap();
        let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
        let items = arrived["items"].as_array().unwrap().iter();
        let mut items: Vec<_> = items
            .map(|one| {
                let said = format!("{} {}", text(one, "title"), text(one, "text"));
                (text(one, "service"), text(one, "to"), said)
            })
            .collect();
        items.sort();
        items
    }
}

/// The commands of the page: until the booking is cancelled, and from there on.
fn commands() -> (Vec<String>, Vec<String>) {
    let page = std::fs::read_to_string(Path::new(EXAMPLE).join("README.md")).unwrap();
    let lines = page.lines().filter_map(|line| line.strip_prefix("    "));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    let cancel = lines.iter().position(|line| line.contains(" cancel ")).unwrap();
    let (before, after) = lines.split_at(cancel);
    (before.to_vec(), after.to_vec())
}

async fn the_page_works_word_by_word(mut example: Example) {
    let (confirmed, cancelled) = commands();
    assert!(confirmed.len() > 15, "{confirmed:?}");
    for line in confirmed {
        example.run(&line).await;
    }
    let sent = example
        .schedules("booking.confirmed", 2, ScheduleStatus::Completed)
        .await;
    assert!(sent.iter().all(|s| s.messages.len() == 3), "{sent:?}");
    // The second one may come before the first one's message is out.
    let reason = sent[0].messages[0].reason.as_deref().unwrap_or_default();
    assert!(
        reason.starts_with("already sent as ") || reason.starts_with("already on its way as "),
        "{reason:?}"
    );
    let waits = example
        .schedules("booking.checkin", 2, ScheduleStatus::Pending)
        .await;
    // Six in the evening in Kolkata.
    assert!(
        waits[0].due_at.to_string().ends_with("T12:30:00.000Z"),
        "{waits:?}"
    );
    let arrived = example.arrived().await;
    let whom: Vec<_> = arrived
        .iter()
        .map(|(service, to, _)| (service.as_str(), to.trim_start_matches('+')))
        .collect();
    let expected = [
        ("interakt", "919876543210"),
        ("msg91", "919876543210"),
        ("smtp", "asha@example.com"),
    ];
    assert_eq!(whom, expected, "once each, although it was confirmed twice");
    assert!(
        arrived.iter().all(|(.., said)| said.contains("Cozy Studio")),
        "{arrived:?}"
    );
    for line in cancelled {
        example.run(&line).await;
    }
    example
        .schedules("booking.checkin", 2, ScheduleStatus::Cancelled)
        .await;
    example
        .schedules("booking.cancelled", 1, ScheduleStatus::Completed)
        .await;
    assert_eq!(example.arrived().await.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_booking_that_is_confirmed_twice_is_told_of_once_and_reminded_of_on_the_eve() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite://{}", folder.path().join("bookings.db").display());
    let example = Example::new(folder.path(), "waypost.toml", (DATABASE, &file), &[]);
    the_page_works_word_by_word(example).await;
}

/// As the page says, after `setup`; and what it makes may not write.
#[cfg(feature = "postgres-tests")]
async fn make_reader(folder: &Path, database: &str) {
    let connect = async |url: &str| {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    };
    let script = std::fs::read_to_string(folder.join("reader.sql")).unwrap();
    connect(database).await.batch_execute(&script).await.unwrap();
    let reader = connect(&as_reader(database)).await;
    let refused = reader.batch_execute("delete from rentals.bookings").await;
    let code = refused.unwrap_err().code().cloned();
    assert_eq!(
        code,
        Some(tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE)
    );
}

#[cfg(feature = "postgres-tests")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn and_so_is_one_in_an_applications_own_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let url = crate::postgres::database().await;
    let example = Example::new(folder.path(), "waypost.postgres.toml", (&url, &url), &[]);
    the_page_works_word_by_word(example).await;
}

/// The tables of the application and Waypost's beside each other; the events are in Waypost's own outbox.
#[cfg(feature = "postgres-tests")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn and_so_is_one_in_waypost_s_own_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let url = crate::postgres::database().await;
    let env = [
        ("WAYPOST_DATABASE__URL", url.as_str()),
        ("WAYPOST_SECRETS__KEY", crate::node::SECRETS_KEY),
    ];
    let example = Example::new(folder.path(), "waypost.postgres.toml", (&url, &url), &env);
    let config = folder.path().join("waypost.toml");
    let told = std::fs::read_to_string(&config).unwrap();
    let told = told.replace("tenant = \"default\"", "tenant = \"default\"\noutbox = false");
    std::fs::write(config, told).unwrap();
    the_page_works_word_by_word(example).await;
}
