//! Commands against a real server process on an embedded database.

use crate::{
    harness::{KEY, Place, Server},
    http::ask,
};
use serde_json::json;
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

/// A server with a capture provider: what is sent there is delivered.
fn server() -> Server {
    let server = Server::start();
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .done();
    server
}

/// Sends to where no provider is: it parks.
fn parked(server: &Server) -> String {
    let ran = server.run(&[
        "notify",
        "--recipient",
        "a@example.com",
        "--subject",
        "lost",
        "--body",
        "x",
        "--wait",
    ]);
    ran.ended(1).out().split(' ').next().unwrap().to_owned()
}

#[test]
fn a_notification_is_sent_followed_listed_and_shown() {
    let server = server();
    let sent = server
        .run(&[
            "notify",
            "--provider",
            "cap",
            "--subject",
            "Hello",
            "--body",
            "World",
            "--wait",
        ])
        .done();
    let said = sent.out();
    let (id, status) = said.split_once(' ').unwrap();
    assert_eq!(status, "Delivered");

    assert!(server.run(&["status", id]).done().out().starts_with("Delivered"));
    assert_eq!(
        server.run(&["status", id, "--watch", "--json"]).done().json()["status"],
        "Delivered"
    );
    let listed = server
        .run(&["list", "--status", "delivered", "--json"])
        .done()
        .json();
    assert_eq!(listed[0]["notificationId"], id);
    assert!(
        server
            .run(&["list", "--provider", "cap"])
            .done()
            .out()
            .contains("Hello")
    );
    let shown = server.run(&["show", id, "--json"]).done().json();
    assert_eq!(
        (&shown["body"], &shown["provider"]),
        (&"World".into(), &"cap".into())
    );
    assert!(shown["attempts"].as_array().unwrap().len() >= 2);
    assert!(server.run(&["show", id]).done().out().contains("NotifyDeliver"));
    let kpis = server.run(&["kpi", "--json"]).done().json();
    assert_eq!(kpis["queueDepth"], 0);
    server.run(&["kpi", "--by-site"]).done();
    assert!(
        server
            .run(&["audit", "--correlation", id])
            .done()
            .out()
            .contains(id)
    );
}

#[test]
fn the_same_key_twice_is_one_notification() {
    let server = server();
    let send = || {
        server
            .run(&[
                "notify",
                "--provider",
                "cap",
                "--body",
                "x",
                "--key",
                "order-7",
                "--json",
            ])
            .done()
            .json()
    };
    let (first, second) = (send(), send());
    assert_eq!(first["notificationId"], second["notificationId"]);
    assert_eq!(
        (&first["duplicate"], &second["duplicate"]),
        (&false.into(), &true.into())
    );
}

#[test]
fn a_body_can_come_from_standard_input() {
    let server = server();
    let mut child = server
        .place
        .command(&["notify", "--provider", "cap", "--body", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), "from a pipe\n".as_bytes()).unwrap();
    let id = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        server.run(&["show", id.trim(), "--json"]).done().json()["body"],
        "from a pipe\n"
    );
}

#[test]
fn what_is_not_there_ends_with_3_and_what_the_state_forbids_with_4() {
    let server = server();
    let nobody = "00000000-0000-7000-8000-000000000000";
    for args in [
        ["status", nobody],
        ["show", nobody],
        ["cancel", nobody],
        ["retry", nobody],
        ["resend", nobody],
    ] {
        server.run(&args).ended(3);
    }
    server.run(&["provider", "show", "none"]).ended(3);
    server.run(&["lists", "show", "none"]).ended(3);
    server
        .run(&["key", "create", "--role", "admin", "--tenant", "none"])
        .ended(3);

    let said = server
        .run(&["notify", "--provider", "cap", "--body", "x", "--wait"])
        .done()
        .out();
    let id = said.split(' ').next().unwrap();
    for args in [["retry", id], ["discard", id], ["cancel", id]] {
        server.run(&args).ended(4);
    }
    server
        .run(&["provider", "add", "--kind", "capture", "--id", "cap"])
        .ended(4);
    assert_ne!(server.run(&["resend", id]).done().out(), id);
}

#[test]
fn a_mistake_is_told_with_how_the_command_is_used_whatever_the_environment_sets() {
    let place = Place::new();
    let without = place.run(&["list", "--nonsense"]).ended(2).err();
    let place = place
        .with("WAYPOST_URL", "http://127.0.0.1:1")
        .with("WAYPOST_TENANT", "acme");
    let with = place.run(&["list", "--nonsense"]).ended(2).err();
    assert_eq!(with, without);
    assert!(with.contains("Usage: waypost list [OPTIONS]"), "{with}");
    let flag_first = place
        .run(&["--config", "other.toml", "list", "--nonsense"])
        .ended(2)
        .err();
    assert!(
        flag_first.contains("Usage: waypost list [OPTIONS]"),
        "{flag_first}"
    );
    let nested = place.run(&["provider", "hold"]).ended(2).err();
    assert!(
        nested.contains("Usage: waypost provider hold [OPTIONS] <"),
        "{nested}"
    );
}

#[test]
fn wrong_usage_ends_with_2() {
    let place = Place::new();
    for args in [
        &["notify", "--body", "x"][..],
        &["notify", "--to", "ops", "--recipient", "a@b", "--body", "x"],
        &["status", "not-an-id"],
        &["list", "--status", "Lost"],
        &["retry"],
        &["no-such-command"],
        &["key", "create", "--role", "king"],
        &["--url"],
        &[],
    ] {
        place.run(args).ended(2);
    }
    let without_key = Place::new().with("WAYPOST_API_KEY", "");
    assert!(
        without_key
            .run(&["list"])
            .ended(2)
            .err()
            .contains("WAYPOST_API_KEY")
    );
}

#[test]
fn nobody_at_the_other_end_is_5() {
    let place = Place::new();
    for args in [
        &["list"][..],
        &["healthcheck"],
        &["notify", "--to", "ops", "--body", "x"],
        &["tail"],
    ] {
        let mut args = args.to_vec();
        args.extend(["--url", "http://127.0.0.1:1"]);
        assert!(place.run(&args).ended(5).err().contains("http://127.0.0.1:1"));
    }
}

#[test]
fn a_wrong_key_is_refused_and_says_where_the_key_comes_from() {
    let server = Server::start();
    let mut command = server.place.command(&["list"]);
    let output = command.env("WAYPOST_API_KEY", "wp_wrong").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("WAYPOST_API_KEY"));
}

#[test]
fn parked_ones_are_explained_and_sent_round_again_or_given_up_in_bulk() {
    let server = server();
    let ids = [parked(&server), parked(&server), parked(&server)];
    let doctor = server.run(&["doctor"]).ended(1).out();
    assert!(
        doctor.contains("3 parked as NO_PROVIDER") && doctor.contains("provider add"),
        "{doctor}"
    );

    server.run(&["retry", "--filter", "all"]).ended(2);
    let job = server
        .run(&["retry", "--filter", "errorCode=NO_PROVIDER", "--yes", "--json"])
        .done()
        .json();
    assert_eq!((&job["total"], &job["done"]), (&3.into(), &3.into()));
    for id in &ids {
        server.run(&["status", id, "--watch"]).done();
    }
    assert!(
        server
            .run(&["discard", &ids[0]])
            .done()
            .out()
            .contains("Discarded")
    );
    let said = server
        .run(&["discard", "--filter", "type=Email", "--yes"])
        .done()
        .out();
    assert!(said.starts_with("2 done"), "{said}");
    assert!(
        server
            .run(&["discard", "--filter", "all", "--yes"])
            .done()
            .err()
            .contains("no parked")
    );
}

#[test]
fn lists_are_managed() {
    let server = server();
    server
        .run(&["lists", "put", "ops", "a@example.com", "b@example.com"])
        .done();
    server
        .run(&["lists", "add", "ops", "c@example.com", "--name", "Cleo"])
        .done();
    server.run(&["lists", "remove", "ops", "a@example.com"]).done();
    let list = server.run(&["lists", "show", "ops", "--json"]).done().json();
    assert_eq!(list["recipients"].as_array().unwrap().len(), 2);
    assert!(server.run(&["lists", "list"]).done().out().contains("ops"));
    let asked = server.run(&["lists", "rm", "ops"]).ended(2);
    assert!(asked.err().contains("Nothing hangs on it."), "{}", asked.err());
    server.run(&["lists", "rm", "ops", "--yes"]).done();
}

#[test]
fn providers_are_managed() {
    let server = server();
    assert!(
        server
            .run(&["provider", "hold", "cap", "--reason", "a pause"])
            .done()
            .out()
            .contains("held: stopped by key:")
    );
    assert!(
        server
            .run(&["doctor"])
            .ended(1)
            .out()
            .contains("provider resume cap")
    );
    assert!(
        server
            .run(&["provider", "resume", "cap"])
            .done()
            .out()
            .contains("in use")
    );
    assert!(
        server
            .run(&["provider", "test", "cap"])
            .done()
            .out()
            .contains("Delivered")
    );
    assert!(
        server
            .run(&["provider", "kinds"])
            .done()
            .out()
            .contains("capture")
    );
    server
        .run(&["provider", "set", "cap", "--name", "The trap"])
        .done();
    assert!(
        server
            .run(&["provider", "list"])
            .done()
            .out()
            .contains("The trap")
    );
    server.run(&["provider", "reseal"]).done();
    server.run(&["provider", "rm", "cap", "--yes"]).done();
}

#[test]
fn keys_and_tenants_are_managed() {
    let server = server();
    let ops = server.run(&["key", "create", "--role", "ops"]).done().out();
    let mut create = server
        .place
        .command(&["tenant", "create", "team", "--admin-key", "first"]);
    let made = create.env("WAYPOST_API_KEY", &ops).output().unwrap();
    assert!(
        made.status.success() && String::from_utf8_lossy(&made.stdout).starts_with("wp_"),
        "{made:?}"
    );
    let mut tenants = server.place.command(&["tenant", "list"]);
    let tenants = tenants.env("WAYPOST_API_KEY", &ops).output().unwrap();
    assert!(String::from_utf8_lossy(&tenants.stdout).contains("team"));

    server
        .run(&["key", "create", "--role", "viewer", "--name", "eyes"])
        .done();
    server
        .run(&["key", "create", "--role", "viewer", "--name", "eyes"])
        .ended(4);
    let keys = server.run(&["key", "list", "--json"]).done().json();
    let eyes = keys
        .as_array()
        .unwrap()
        .iter()
        .find(|k| k["name"] == "eyes")
        .unwrap()
        .clone();
    server.run(&["key", "revoke", &eyes["id"].to_string()]).done();
}

#[test]
fn all_that_a_provider_is_set_up_with_can_be_set_and_the_rest_stays() {
    let server = Server::start();
    let add = "provider add --kind capture --id cap --name Trap --order 7 --disabled --retry shape=fixed \
               --retry interval=30s --retry maxAge=2d --limit concurrency=3 --limit perSecond=2.5 \
               --on-ambiguous park --json";
    let made = server
        .run(&add.split_whitespace().collect::<Vec<_>>())
        .done()
        .json();
    assert_eq!(
        (
            &made["retry"]["shape"],
            &made["retry"]["interval"],
            &made["retry"]["maxAge"]
        ),
        (&json!("fixed"), &json!("30s"), &json!("2d"))
    );
    assert_eq!(made["limits"], json!({"concurrency": 3, "perSecond": 2.5}));
    assert_eq!(
        (&made["onAmbiguous"], &made["enabled"], &made["order"]),
        (&json!("park"), &json!(false), &json!(7))
    );

    let set = |args: &[&str]| {
        let all: Vec<&str> = ["provider", "set", "cap", "--json"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        server.run(&all)
    };
    let changed = set(&[
        "--retry",
        "unknownRetries=4",
        "--retry",
        "maxAge=none",
        "--limit",
        "perSecond=none",
    ])
    .done()
    .json();
    let mut expected = made["retry"].clone();
    expected["unknownRetries"] = json!(4);
    expected.as_object_mut().unwrap().remove("maxAge");
    assert_eq!(changed["retry"], expected);
    assert_eq!(changed["limits"], json!({"concurrency": 3, "perSecond": null}));
    assert_eq!(
        (&changed["onAmbiguous"], &changed["name"]),
        (&json!("park"), &json!("Trap"))
    );
    let switched = set(&["--on-ambiguous", "resend", "--enabled", "true"])
        .done()
        .json();
    assert_eq!(
        (&switched["retry"], &switched["enabled"]),
        (&expected, &json!(true))
    );
    assert!(
        set(&["--retry", "tries=3"])
            .ended(2)
            .err()
            .contains("maxAttempts")
    );
    assert!(
        set(&["--retry", "interval=soon"])
            .ended(2)
            .err()
            .contains("retry.interval")
    );
}

#[test]
fn somebody_on_a_list_is_switched_off_and_on_again() {
    let server = Server::start();
    server.run(&["lists", "put", "ops", "a@example.com"]).done();
    server
        .run(&[
            "lists",
            "add",
            "ops",
            "b@example.com",
            "--name",
            "Bea",
            "--disabled",
        ])
        .done();
    let states = || {
        let list = server.run(&["lists", "show", "ops", "--json"]).done().json();
        let of = |address: &str| {
            let all = list["recipients"].as_array().unwrap();
            all.iter().find(|r| r["address"] == address).unwrap()["enabled"].clone()
        };
        (of("a@example.com"), of("b@example.com"))
    };
    assert_eq!(states(), (json!(true), json!(false)));
    server.run(&["lists", "disable", "ops", "a@example.com"]).done();
    server.run(&["lists", "enable", "ops", "b@example.com"]).done();
    assert_eq!(states(), (json!(false), json!(true)));
    let list = server.run(&["lists", "show", "ops", "--json"]).done().json();
    assert!(list.to_string().contains("Bea"), "{list}");
    server.run(&["lists", "disable", "ops", "c@example.com"]).ended(3);
    server
        .run(&["lists", "disable", "night", "a@example.com"])
        .ended(3);
}

#[test]
fn what_a_capture_provider_kept_is_shown_newest_first() {
    let server = server();
    for subject in ["one", "two"] {
        server
            .run(&[
                "notify",
                "--provider",
                "cap",
                "--subject",
                subject,
                "--body",
                "text",
                "--wait",
            ])
            .done();
    }
    let kept = server
        .run(&["provider", "captured", "cap", "--json"])
        .done()
        .json();
    let subjects: Vec<_> = kept.as_array().unwrap().iter().map(|m| &m["subject"]).collect();
    assert_eq!(subjects, ["two", "one"]);
    let newest = server
        .run(&["provider", "captured", "cap", "--limit", "1"])
        .done()
        .out();
    assert!(newest.contains("two") && !newest.contains("one"), "{newest}");
    server.run(&["provider", "captured", "nobody"]).ended(3);
    server
        .run(&[
            "provider",
            "add",
            "--kind",
            "smtp",
            "--id",
            "mail",
            "--set",
            "host=mail.example.com",
            "--set",
            "from=a@example.com",
        ])
        .done();
    server.run(&["provider", "captured", "mail"]).ended(4);
}

#[test]
fn what_was_given_up_is_sent_again_and_says_who_asked() {
    let server = server();
    let id = parked(&server);
    server.run(&["discard", &id]).done();
    let new = server.run(&["resend", &id]).done().out();
    assert_ne!(new, id);
    let shown = server.run(&["show", &id]).done().out();
    assert!(
        shown.contains("Discarded") && shown.contains("NotifyResend") && shown.contains("key:bootstrap"),
        "{shown}"
    );
}

#[test]
fn all_tenants_are_listed_however_many_there_are() {
    let server = Server::start();
    let ops = server.run(&["key", "create", "--role", "ops"]).done().out();
    let key = format!("authorization: Bearer {ops}\r\n");
    for n in 0..105 {
        let body = format!(r#"{{"name":"team-{n:03}"}}"#);
        let made = ask(server.url(), "POST", "/api/tenants", &key, &body);
        assert!(made.starts_with("HTTP/1.0 201"), "{made}");
    }
    let mut list = server.place.command(&["tenant", "list"]);
    let list = list.env("WAYPOST_API_KEY", &ops).output().unwrap();
    let list = String::from_utf8_lossy(&list.stdout);
    for n in 0..105 {
        assert!(list.contains(&format!("team-{n:03}")), "{n}: {list}");
    }
}

#[test]
fn a_tenant_is_removed_once_nothing_hangs_on_it() {
    let server = Server::start();
    let ops = server.run(&["key", "create", "--role", "ops"]).done().out();
    let as_ops = |args: &[&str]| {
        let ran = server.place.command(args).env("WAYPOST_API_KEY", &ops).output();
        let ran = ran.unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        (ran.status.code().unwrap(), said, ran.stdout)
    };
    let (_, _, key) = as_ops(&["tenant", "create", "team", "--admin-key", "first"]);
    let key = String::from_utf8(key).unwrap();
    let mut add = server
        .place
        .command(&["provider", "add", "--kind", "capture", "--id", "cap"]);
    assert!(add.env("WAYPOST_API_KEY", key.trim()).status().unwrap().success());
    let (code, said, _) = as_ops(&["tenant", "rm", "team", "--yes"]);
    assert!(code == 4 && said.contains("1 provider"), "{code} {said}");
    let (code, asked, _) = as_ops(&["tenant", "rm", "team"]);
    let told = asked.contains("Hanging on it: 1 provider. Not used lately.");
    assert!(code == 2 && told, "nobody can be asked: {asked}");
    let mut rm = server.place.command(&["provider", "rm", "cap", "--yes"]);
    assert!(rm.env("WAYPOST_API_KEY", key.trim()).status().unwrap().success());
    assert_eq!(as_ops(&["tenant", "rm", "team", "--yes"]).0, 0);
    assert_eq!(as_ops(&["tenant", "rm", "team", "--yes"]).0, 3);
    let mut list = server.place.command(&["provider", "list"]);
    assert!(
        !list
            .env("WAYPOST_API_KEY", key.trim())
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn the_database_is_migrated_purged_and_copied_beside_a_server() {
    let server = server();
    server
        .run(&["notify", "--provider", "cap", "--body", "x", "--wait"])
        .done();
    assert!(server.run(&["migrate"]).done().out().contains("schema version"));
    assert!(
        server
            .run(&["purge", "--dry-run"])
            .done()
            .out()
            .starts_with("would purge nothing")
    );
    assert_eq!(server.run(&["purge", "--json"]).done().json()["notifications"], 0);
    server.run(&["backup", "copy.db"]).done();
    server.run(&["backup", "copy.db"]).ended(4);
    let copy = server
        .place
        .command(&["purge", "--dry-run"])
        .env("WAYPOST_DATABASE__URL", "sqlite://copy.db")
        .output();
    assert!(copy.unwrap().status.success());
    server.run(&["healthcheck"]).done();
    server.run(&["healthcheck", "--ready"]).done();
}

#[test]
fn a_second_server_on_the_same_file_is_refused() {
    let server = Server::start();
    let said = server.run(&["serve"]).ended(4).err();
    assert!(said.contains("in use by another waypost process"), "{said}");
}

#[test]
fn it_ends_in_order_when_asked_and_what_it_knew_is_there_again() {
    let server = server();
    let id = server.run(&[
        "notify",
        "--provider",
        "cap",
        "--body",
        "x",
        "--id",
        "0197f6f0-0000-7000-8000-000000000001",
    ]);
    let id = id.done().out();
    let (place, status) = server.terminate();
    assert!(status.success(), "{status}");
    let again = Server::in_place(place);
    assert!(!again.run(&["status", &id, "--watch"]).done().out().is_empty());
    let key = std::fs::metadata(again.place.path().join("data/secrets.key")).unwrap();
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&key.permissions()) & 0o777,
        0o600
    );
}

#[test]
fn the_port_file_names_the_real_port() {
    let place = Place::new()
        .with("WAYPOST_SERVER__LISTEN", "127.0.0.1:0")
        .with("WAYPOST_SERVER__LINK_LISTEN", "127.0.0.1:0")
        .with("WAYPOST_SERVER__BOOTSTRAP_KEY", KEY);
    let mut child = place
        .command(&["serve", "--port-file", "port"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    let address = std::fs::read_to_string(place.path().join("port")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(line.trim(), format!("waypost is listening on http://{address}"));
    assert!(!address.ends_with(":0"));
}

#[test]
fn a_second_signal_ends_it_at_once_while_the_first_waits_for_what_is_under_way() {
    let far_end = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::start();
    let url = format!("url=http://{}/", far_end.local_addr().unwrap());
    server
        .run(&[
            "provider", "add", "--kind", "webhook", "--id", "slow", "--set", &url,
        ])
        .done();
    server
        .run(&["notify", "--provider", "slow", "--body", "x"])
        .done();
    let _under_way = far_end.accept().unwrap();
    let status = server.terminate_twice();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn tail_shows_changes_as_they_happen() {
    let server = server();
    let mut tail = server
        .place
        .command(&["tail", "--json", "--kpis"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    // The figures come first: from then on it listens.
    assert!(lines.next().unwrap().contains("queueDepth"));
    let said = server
        .run(&["notify", "--provider", "cap", "--body", "x", "--wait"])
        .done()
        .out();
    let id = said.split(' ').next().unwrap();
    let delivered = lines.find(|line| line.contains("Delivered")).unwrap();
    assert!(
        delivered.contains(id) && delivered.contains("\"event\":\"change\""),
        "{delivered}"
    );
    tail.kill().unwrap();
    tail.wait().unwrap();
}

#[test]
fn help_renders_for_every_command() {
    fn walk(place: &Place, path: &[String]) -> usize {
        let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
        args.push("--help");
        let help = place.run(&args).done().out();
        assert!(help.contains("Usage:"), "{path:?}");
        let Some((_, commands)) = help.split_once("\nCommands:\n") else {
            return 1;
        };
        let commands = commands.split("\n\n").next().unwrap_or("").lines();
        let names = commands
            .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
            .filter_map(|l| l.split_whitespace().next());
        let nested = names
            .filter(|name| *name != "help")
            .map(|name| walk(place, &[path, &[name.to_owned()]].concat()));
        1 + nested.sum::<usize>()
    }
    assert!(walk(&Place::new(), &[]) > 40);
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            Place::new()
                .run(&["completions", shell])
                .done()
                .out()
                .contains("healthcheck")
        );
    }
}

#[test]
fn a_reader_who_goes_away_is_no_failure() {
    let mut child = Place::new()
        .command(&["completions", "bash"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    assert!(
        Command::new(env!("CARGO_BIN_EXE_waypost"))
            .arg("--version")
            .output()
            .unwrap()
            .status
            .success()
    );
}

#[test]
fn a_time_from_now_looks_ahead() {
    let server = server();
    let send = |flags: &[&str]| {
        let mut args = vec!["notify", "--provider", "cap", "--body", "x", "--json"];
        args.extend(flags);
        let sent = server.run(&args).done().json();
        let id = sent["notificationId"].as_str().unwrap().to_owned();
        server.run(&["show", &id, "--json"]).done().json()
    };
    let at = |row: &serde_json::Value, name: &str| -> domain::Timestamp {
        row[name].as_str().unwrap().parse().unwrap()
    };
    let row = send(&["--send-at", "2h", "--expires-at", "3h"]);
    let created = at(&row, "createdAt");
    for (name, hours) in [("sendAt", 2), ("expiresAt", 3)] {
        let ahead = at(&row, name).since(created).as_secs();
        assert!(
            (hours * 3600 - 60..=hours * 3600 + 60).contains(&ahead),
            "{name}: {ahead}"
        );
    }
    assert_eq!(
        (&row["status"], &row["waiting"]["reason"]),
        (&"Pending".into(), &"scheduled".into())
    );
    let shown = server.run(&["list", "--status", "pending"]).done().out();
    assert!(shown.contains("scheduled, next"), "{shown}");
}

#[test]
fn data_that_is_no_json_object_is_refused() {
    let server = server();
    for data in ["{bad", "7", "\"text\""] {
        let ran = server.run(&["notify", "--provider", "cap", "--body", "x", "--data", data]);
        assert!(ran.ended(2).err().contains("JSON"), "{data}");
    }
    let args = [
        "notify",
        "--provider",
        "cap",
        "--body",
        "x",
        "--data",
        r#"{"priority": 1}"#,
    ];
    server.run(&args).done();
}

#[test]
fn a_list_is_not_emptied_by_leaving_its_addresses_out() {
    let server = server();
    server.run(&["lists", "put", "ops", "a@example.com"]).done();
    server.run(&["lists", "put", "ops"]).ended(2);
    for bad in ["rubbish", "a@x.example, b@x.example"] {
        server.run(&["lists", "put", "ops", bad]).ended(2);
        server.run(&["lists", "add", "ops", bad]).ended(2);
    }
    let list = server.run(&["lists", "show", "ops", "--json"]).done().json();
    assert_eq!(list["recipients"].as_array().unwrap().len(), 1);
    server.run(&["lists", "put", "ops", "--empty"]).done();
    let list = server.run(&["lists", "show", "ops", "--json"]).done().json();
    assert_eq!(list["recipients"].as_array().unwrap().len(), 0);
}

#[test]
fn lists_of_more_than_a_page_are_shown_whole() {
    let server = server();
    let client = client::Client::new(server.url(), KEY).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        for i in 0..120 {
            let list = client::List {
                name: format!("list-{i:03}"),
                recipients: vec![],
            };
            client.create_list(&list).await.unwrap();
            client.create_key(&format!("key-{i:03}"), "viewer").await.unwrap();
            let draft = client::ProviderDraft {
                id: Some(format!("cap-{i:03}")),
                kind: "capture".into(),
                ..Default::default()
            };
            client.create_provider(&draft).await.unwrap();
        }
    });
    for (args, name) in [
        (["lists", "list", "--json"], "list-119"),
        (["key", "list", "--json"], "key-119"),
        (["provider", "list", "--json"], "cap-119"),
    ] {
        let shown = server.run(&args).done().json();
        assert!(shown.as_array().unwrap().len() >= 120, "{args:?}");
        assert!(shown.to_string().contains(name), "{args:?}");
    }
}

#[test]
fn the_purge_says_in_the_log_what_is_gone() {
    let mut server = Server::start();
    let line = server.log_line("purged what was past its time");
    for field in ["purged.notifications", "purged.audit_rows", "purged.jobs"] {
        assert!(line.contains(field), "{line}");
    }
}
