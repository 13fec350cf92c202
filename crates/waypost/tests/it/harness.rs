//! A real `waypost` process in a folder of its own, and commands run beside it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
};
use tempfile::TempDir;

pub const KEY: &str = "wp_test_bootstrap_key";

/// A folder with an environment: every command runs in it, and sees nothing of the machine's own settings.
#[derive(Debug)]
pub struct Place {
    folder: TempDir,
    env: Vec<(String, String)>,
}

impl Place {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let place = Self { folder, env: vec![] };
        place.with("WAYPOST_API_KEY", KEY)
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_waypost"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .stdin(Stdio::null());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran(self.command(args).output().unwrap())
    }

    /// The same with something to read.
    pub fn run_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Who does not read it may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        Ran(child.wait_with_output().unwrap())
    }
}

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Ran(Output);

impl Ran {
    pub fn code(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).trim().to_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).trim().to_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.0.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    #[track_caller]
    pub fn done(self) -> Self {
        self.ended(0)
    }

    #[track_caller]
    pub fn ended(self, code: i32) -> Self {
        assert_eq!(
            self.code(),
            code,
            "stdout: {}\nstderr: {}",
            self.out(),
            self.err()
        );
        self
    }
}

/// A running `waypost serve`. Dropping it kills it.
#[derive(Debug)]
pub struct Server {
    pub place: Place,
    url: String,
    child: Child,
}

impl Server {
    /// A server on an embedded database in a new folder.
    pub fn start() -> Self {
        Self::in_place(Place::new())
    }

    /// A server on what the place's folder and environment say.
    pub fn in_place(place: Place) -> Self {
        let place = place
            .with("WAYPOST_SERVER__LISTEN", "127.0.0.1:0")
            .with("WAYPOST_SERVER__LINK_LISTEN", "127.0.0.1:0")
            .with("WAYPOST_SERVER__BOOTSTRAP_KEY", KEY)
            .with("WAYPOST_DELIVERY__ALLOW_ADDRESSES", "127.0.0.0/8")
            .with("WAYPOST_LOG", "warn,waypost=info,central::purge=info");
        let (child, url) = spawn(&place);
        let place = place.with("WAYPOST_URL", &url);
        Self { place, url, child }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where sites reach it.
    pub fn link_address(&self) -> String {
        let file = self.place.path().join("link-port");
        std::fs::read_to_string(file).unwrap().trim().to_owned()
    }

    /// The first line of the log with these words. Asked once: the rest is not read.
    pub fn log_line(&mut self, words: &str) -> String {
        let log = BufReader::new(self.child.stderr.take().unwrap());
        let mut lines = log.lines().map(Result::unwrap);
        lines.find(|line| line.contains(words)).unwrap()
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.place.run(args)
    }

    /// Asks it to end in order; what it logged.
    pub fn terminate_and_read_log(mut self) -> String {
        self.signal();
        let mut log = String::new();
        let mut stderr = self.child.stderr.take().unwrap();
        stderr.read_to_string(&mut log).unwrap();
        log
    }

    /// What a server in this place logs until it is up.
    pub fn log_of_start(place: &Place) -> String {
        let mut command = place.command(&["serve"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut server = Self {
            place: Place::new(),
            child: child.unwrap(),
            url: String::new(),
        };
        let mut said = String::new();
        for line in BufReader::new(server.child.stderr.take().unwrap()).lines() {
            let line = line.unwrap();
            said += &line;
            said.push('\n');
            if line.contains("central is up") {
                break;
            }
        }
        said
    }

    /// Asks it to end in order, and waits for that.
    pub fn terminate(mut self) -> (Place, ExitStatus) {
        self.signal();
        let status = self.child.wait().unwrap();
        let place = std::mem::replace(&mut self.place, Place::new());
        (place, status)
    }

    /// Asks it to end, and again once it says that it has heard.
    pub fn terminate_twice(mut self) -> ExitStatus {
        self.signal();
        let log = BufReader::new(self.child.stderr.take().unwrap());
        assert!(log.lines().any(|line| line.unwrap().contains("SIGTERM")));
        self.signal();
        self.child.wait().unwrap()
    }

    fn signal(&self) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server and waits for the line that says where it listens.
fn spawn(place: &Place) -> (Child, String) {
    let mut command = place.command(&["serve", "--link-port-file", "link-port"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut served, url) = serving(command, "waypost is listening on ");
    (served.0.take().unwrap(), url)
}

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub struct Served(Option<Child>);

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a process whose first line ends with where it listens.
pub fn serving(mut command: Command, said: &str) -> (Served, String) {
    let mut served = Served(Some(command.spawn().unwrap()));
    let stdout = served.0.as_mut().and_then(|child| child.stdout.take()).unwrap();
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix(said);
    let url = url.unwrap_or_else(|| panic!("it said {line:?}")).to_owned();
    (served, url)
}
