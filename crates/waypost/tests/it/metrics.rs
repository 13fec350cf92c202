//! `docs/metrics.md` against the names in the sources and against what `/metrics` of real processes shows.

use crate::{
    harness::{Place, Server, serving},
    http::ask,
    tidy::{files, read, scan::Source},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read, Write},
    path::Path,
    process::Stdio,
};
use testkit::ports::an_address;

/// What is said of one family, on the page or in a scrape.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Family {
    kind: String,
    help: String,
}

/// The rows of one part of the page: name, what is told, and unit.
fn on_the_page(part: &str) -> BTreeMap<String, (Family, String)> {
    let page = read(Path::new("docs/metrics.md"));
    let parts: Vec<&str> = page.split("\n## ").collect();
    let part = parts.iter().find(|text| text.starts_with(part)).expect(part);
    let rows = part.lines().filter(|line| line.starts_with("| `waypost_"));
    let mut found = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if let [_, name, kind, unit, _, help, _] = cells[..] {
            let family = Family {
                kind: kind.to_owned(),
                help: help.to_owned(),
            };
            found.insert(name.trim_matches('`').to_owned(), (family, unit.to_owned()));
        }
    }
    assert!(!found.is_empty(), "no rows in {part}");
    found
}

/// Every family of a scrape that is ours.
fn in_scrape(text: &str) -> BTreeMap<String, Family> {
    let mut helps = BTreeMap::new();
    let mut found = BTreeMap::new();
    for line in text.lines() {
        if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) {
            helps.insert(name, help);
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '))
        {
            let family = Family {
                kind: kind.to_owned(),
                help: helps.get(name).copied().unwrap_or("(no help text)").to_owned(),
            };
            found.insert(name.to_owned(), family);
        }
    }
    found
}

fn compare(part: &str, scrape: &str) {
    let page: BTreeMap<_, _> = on_the_page(part)
        .into_iter()
        .map(|(name, (family, _))| (name, family))
        .collect();
    assert_eq!(in_scrape(scrape), page, "docs/metrics.md, {part}");
}

#[test]
fn the_page_has_every_name_in_the_sources_and_no_other() {
    let is_name = |text: &&String| {
        let rest = text.strip_prefix("waypost_");
        rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
    };
    let mut in_sources = BTreeSet::new();
    for path in files("crates", ".rs") {
        let name = path.to_string_lossy();
        // The console's names are cookies; the other file has the help texts.
        if !name.contains("/src/") || name.contains("web/src/console") || name.ends_with("metric_families.rs")
        {
            continue;
        }
        let source = Source::read(&read(&path));
        in_sources.extend(source.strings.iter().filter(is_name).cloned());
    }
    let mut page = on_the_page("Central");
    page.extend(on_the_page("A site's agent"));
    let on_page: BTreeSet<_> = page.keys().cloned().collect();
    assert_eq!(in_sources, on_page, "sources, and docs/metrics.md");
    for (name, (_, unit)) in page {
        let said = match name.trim_end_matches("_total").rsplit('_').next() {
            Some("seconds") => "seconds",
            Some("bytes") => "bytes",
            _ => "count",
        };
        assert_eq!(unit, said, "{name}");
    }
}

#[test]
fn central_shows_what_the_page_says_with_its_help_texts() {
    let server = Server::start();
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "acme-alarms"])
        .done();
    server
        .run(&["notify", "--provider", "acme-alarms", "--body", "x", "--wait"])
        .done();
    server.run(&["provider", "show", "acme-alarms"]).done();
    let scrape = ask(server.url(), "GET", "/metrics", "", "");
    compare("Central", &scrape);
    // Anybody may scrape: whom a tenant works with is not told.
    assert!(!scrape.contains("acme"), "{scrape}");
}

#[test]
fn a_site_shows_what_the_page_says_with_its_help_texts() {
    let place = Place::new();
    // It comes back to both when it is promoted.
    let (here, for_the_other) = (an_address(), an_address());
    let config = format!(
        "[site]\nid = \"north\"\nkey = \"wps_of_north\"\nlisten = \"{here}\"\n\n[site.replication]\n\
         listen = \"{for_the_other}\"\npeer = \"http://127.0.0.1:9\"\n\n[[site.system]]\nname = \"erp\"\n\
         base_url = \"http://127.0.0.1:9\"\n"
    );
    place.write("waypost.toml", &config);
    let mut command = place.command(&["site"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let (_agent, url) = serving(command, "site north is listening on ");
    let promoted = ask(&url, "POST", "/pair/promote", "", r#"{"force":true}"#);
    assert!(promoted.starts_with("HTTP/1.0 200"), "{promoted}");
    until_it_answers(&url, "/healthz", "\"name\":\"due\"");
    let called = ask(&url, "POST", "/calls", "", r#"{"system":"erp","path":"/orders"}"#);
    assert!(called.starts_with("HTTP/1.0 202"), "{called}");
    compare("A site's agent", &ask(&url, "GET", "/metrics", "", ""));
}

/// It starts anew, and nobody is there for a moment.
pub fn until_it_answers(url: &str, path: &str, with: &str) {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    for _ in 0..9_000 {
        let mut answer = String::new();
        let asked = std::net::TcpStream::connect(address).and_then(|mut stream| {
            stream.write_all(format!("GET {path} HTTP/1.0\r\nhost: {address}\r\n\r\n").as_bytes())?;
            stream.read_to_string(&mut answer)
        });
        if asked.is_ok() && answer.contains(with) {
            return;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }
    panic!("{path} never said {with}");
}
