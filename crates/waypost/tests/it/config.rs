//! The configuration: what is refused and in which words, what wins, and where values are said to come from.

use crate::harness::{Place, Server, serving};
use std::{io::Write, process::Stdio};
use testkit::ports::an_address;

/// A place whose central would listen on ports that nobody else has.
fn checked() -> Place {
    Place::new()
        .with("WAYPOST_SERVER__LISTEN", "127.0.0.1:0")
        .with("WAYPOST_SERVER__LINK_LISTEN", "127.0.0.1:0")
}

/// Where somebody answers who is not central.
fn something_else() -> String {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in taken.incoming() {
            let _ = stream.unwrap().write_all(b"220 mail.example.com\r\n");
        }
    });
    address
}

#[test]
fn everything_that_is_wrong_is_named_at_once_with_its_origin_and_what_it_takes() {
    let place = Place::new().with("WAYPOST_OUTBOX__DISPATCH_BATCH_SIZE", "0");
    place.write(
        "waypost.toml",
        "[outbox]\ndispatch_interval = \"soon\"\nlease = \"0s\"\nleese = \"1m\"\n[server]\nlisten = \"here\"\n[colours]\nsky = 1\n[empty]\n",
    );
    let said = place.run(&["config", "check"]).ended(1).err();
    for wanted in [
        "outbox.dispatch_interval (waypost.toml)",
        "\"soon\" will not do; it takes a duration from \"100ms\" to \"1h\"",
        "outbox.lease (waypost.toml): \"0ms\" will not do",
        "outbox.dispatch_batch_size (WAYPOST_OUTBOX__DISPATCH_BATCH_SIZE): 0 will not do; it takes a number from 1",
        "outbox.leese (waypost.toml): there is no such key; did you mean outbox.lease?",
        "server.listen (waypost.toml)",
        "colours.sky (waypost.toml): there is no such key",
        "empty (waypost.toml): there is no such key",
    ] {
        assert!(said.contains(wanted), "{wanted:?} is missing in:\n{said}");
    }
    place.run(&["serve"]).ended(1);
}

#[test]
fn a_misspelt_variable_is_refused_too() {
    let place = checked().with("WAYPOST_SERVER__LISEN", "127.0.0.1:1");
    let said = place.run(&["config", "check"]).ended(1).err();
    assert!(
        said.contains("server.lisen (WAYPOST_SERVER__LISEN)") && said.contains("server.listen?"),
        "{said}"
    );
}

#[test]
fn the_environment_wins_over_the_file_and_the_file_over_the_default() {
    let place = checked()
        .with("WAYPOST_OUTBOX__LEASE", "90s")
        .with("WAYPOST_SERVER__INSECURE", "true");
    place.write("other.toml", "[outbox]\nlease = \"3m\"\ndispatch_interval = 5\n");
    let shown = place
        .run(&["config", "show", "--json", "--config", "other.toml"])
        .done()
        .json();
    let find = |key: &str| {
        shown
            .as_array()
            .unwrap()
            .iter()
            .find(|s| s["key"] == key)
            .unwrap()
            .clone()
    };
    let expect = |key: &str, value: &str, origin: &str| {
        let found = find(key);
        assert_eq!(
            (found["value"].as_str(), found["origin"].as_str()),
            (Some(value), Some(origin)),
            "{key}"
        );
    };
    expect("outbox.lease", "90s", "WAYPOST_OUTBOX__LEASE");
    expect("outbox.dispatch_interval", "5", "other.toml");
    expect("outbox.terminal_retention", "365d", "default");
    expect("outbox.spent_key_retention", "forever", "default");
    expect("server.insecure", "true", "WAYPOST_SERVER__INSECURE");
    expect("database.url", "sqlite://data/waypost.db", "default");
    assert_eq!(find("server.public_url")["value"], serde_json::Value::Null);
}

#[test]
fn secrets_are_never_shown() {
    let place = checked()
        .with("WAYPOST_SERVER__BOOTSTRAP_KEY", "a-very-secret-bootstrap-key")
        .with(
            "WAYPOST_SECRETS__KEY",
            "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U=",
        )
        .with("WAYPOST_DATABASE__URL", "postgres://user:hunter2@db/waypost");
    let shown = place.run(&["config", "show"]).done().out();
    for secret in ["a-very-secret", "c2VjcmV0", "hunter2"] {
        assert!(!shown.contains(secret), "{secret} is in:\n{shown}");
    }
    assert!(shown.contains("postgres://user:•••@db/waypost"), "{shown}");
    let bad = checked()
        .with("WAYPOST_SECRETS__KEY", "hunter2")
        .run(&["config", "check"])
        .ended(1)
        .err();
    assert!(bad.contains("secrets.key") && !bad.contains("hunter2"), "{bad}");
}

#[test]
fn a_bootstrap_key_that_opens_nothing_is_told_of_at_the_start_with_what_to_do() {
    let (place, _) = Server::start().terminate();
    assert!(!Server::log_of_start(&place).contains("bootstrap_key"));

    let other = place.with("WAYPOST_SERVER__BOOTSTRAP_KEY", "wp_another_text_of_the_key");
    let said = Server::log_of_start(&other);
    for wanted in [
        "server.bootstrap_key is not in force",
        "another text",
        "waypost key create --role admin",
    ] {
        assert!(said.contains(wanted), "{wanted:?} is missing in:\n{said}");
    }
    assert!(!said.contains("wp_another_text_of_the_key"), "{said}");

    let server = Server::in_place(other);
    let id = server.run(&["key", "list", "--json"]).done().json()[0]["id"].to_string();
    server.run(&["key", "revoke", &id]).done();
    let refused = server.run(&["doctor"]).ended(1).err();
    assert!(refused.contains("server.bootstrap_key"), "{refused}");
    let (place, _) = server.terminate();
    let said = Server::log_of_start(&place);
    assert!(
        said.contains("not in force") && said.contains("revoked"),
        "{said}"
    );
}

#[test]
fn the_domain_of_message_ids_must_be_one() {
    let long = "a".repeat(64);
    for bad in ["mail example.com", "me@example.com", "a..b", long.as_str()] {
        let place = checked().with("WAYPOST_DELIVERY__MESSAGE_ID_DOMAIN", bad);
        let said = place.run(&["config", "check"]).ended(1).err();
        assert!(said.contains("delivery.message_id_domain"), "{bad}: {said}");
    }
    let place = checked().with("WAYPOST_DELIVERY__MESSAGE_ID_DOMAIN", "mail.example.com");
    place.run(&["config", "check"]).done();
}

#[test]
fn a_list_of_tables_is_one_line_of_toml_in_the_environment_and_never_printed() {
    let source = r#"[{ name = "shop", url = "postgres://waypost:hunter2@db.example/shop", tenants = { "42" = "acme" } }]"#;
    let place = checked().with("WAYPOST_EVENTS__SOURCE", source);
    place.run(&["config", "check"]).done();
    let said = place.run(&["config", "show"]).done().out();
    assert!(
        said.contains("[shop]") && said.contains("WAYPOST_EVENTS__SOURCE"),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
    for bad in [
        "postgres://waypost:hunter2@db.example/shop",
        "[\"hunter2\"]",
        "[{ name = hunter2 }]",
    ] {
        let place = checked().with("WAYPOST_EVENTS__SOURCE", bad);
        let said = place.run(&["config", "check"]).ended(1).err();
        assert!(said.contains("events.source (WAYPOST_EVENTS__SOURCE)"), "{said}");
        assert!(said.contains("it takes tables [[event_source]]"), "{said}");
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_tenant_has_one_lookup_of_a_name() {
    let sources = |second: &str| {
        format!(
            "[{{ name = \"shop\", url = \"sqlite://shop.db\", lookups = {{ guest = \"select 1 as a\" }} }}, \
             {{ name = \"spa\", url = \"sqlite://spa.db\", lookups = {{ guest = \"select 2 as a\" }}, {second} }}]"
        )
    };
    let check = |second: &str| {
        let place = checked().with("WAYPOST_EVENTS__SOURCE", &sources(second));
        place.run(&["config", "check"])
    };
    check("tenant = \"other\"").done();
    let said = check("tenants = { \"7\" = \"default\" }").ended(1).err();
    assert!(
        said.contains("\"spa\": \"shop\" has a lookup \"guest\" for the same tenant"),
        "{said}"
    );
}

#[test]
fn the_password_of_whoever_looks_things_up_may_be_in_a_file() {
    let place = checked();
    let own = place.write("own", "sqlite://data/own.db\n");
    let check = |lookup: &str| {
        let source = format!("[{{ name = \"shop\", url = \"sqlite://shop.db\", {lookup} }}]");
        let place = checked()
            .with("WAYPOST_EVENTS__SOURCE", &source)
            .with("WAYPOST_DATABASE__URL", "sqlite://data/own.db");
        place.run(&["config", "check"])
    };
    let file = place.write("url", "sqlite://shop.db\n");
    let in_file = format!("lookup_url_file = {file:?}");
    check(&in_file).done();
    let said = check(&format!("{in_file}, lookup_url = \"sqlite://shop.db\""))
        .ended(1)
        .err();
    assert!(
        said.contains("lookup_url is set as well as lookup_url_file; keep one of them"),
        "{said}"
    );
    let said = check(&format!("lookup_url_file = {own:?}")).ended(1).err();
    assert!(said.contains("\"shop\": is the file of database.url"), "{said}");
}

#[test]
fn a_tenant_has_one_id_in_a_source() {
    let check = |tenants: &str| {
        let source = format!("[{{ name = \"shop\", url = \"sqlite://shop.db\", tenants = {tenants} }}]");
        let place = checked().with("WAYPOST_EVENTS__SOURCE", &source);
        place.run(&["config", "check"])
    };
    check("{ \"7\" = \"acme\", \"8\" = \"default\" }").done();
    let said = check("{ \"7\" = \"acme\", \"8\" = \"acme\" }").ended(1).err();
    assert!(
        said.contains("tenants has \"7\" and \"8\" for \"acme\"; keep one of them"),
        "{said}"
    );
}

#[test]
fn no_event_source_is_in_the_file_that_everything_is_kept_in() {
    let check = |file: &str| {
        let source = format!("[{{ name = \"shop\", url = \"sqlite://{file}\" }}]");
        let place = checked()
            .with("WAYPOST_EVENTS__SOURCE", &source)
            .with("WAYPOST_DATABASE__URL", "sqlite://data/own.db");
        place.run(&["config", "check"])
    };
    check("data/shop.db").done();
    for same in ["data/own.db", "./data/own.db"] {
        let said = check(same).ended(1).err();
        assert!(said.contains("\"shop\": is the file of database.url"), "{said}");
    }
}

#[test]
fn a_secret_may_be_in_a_file_but_not_in_two_places() {
    let place = checked();
    let file = place.write("url", "sqlite://elsewhere/w.db\n");
    let place = place.with("WAYPOST_DATABASE__URL_FILE", file.to_str().unwrap());
    assert!(
        place
            .run(&["config", "check"])
            .done()
            .out()
            .contains("sqlite://elsewhere/w.db")
    );
    let both = place.with("WAYPOST_DATABASE__URL", "sqlite://here.db");
    let said = both.run(&["config", "check"]).ended(1).err();
    assert!(
        said.contains("database.url") && said.contains("as well as database.url_file"),
        "{said}"
    );
    let missing = checked().with("WAYPOST_SERVER__BOOTSTRAP_KEY_FILE", "nowhere");
    assert!(
        missing
            .run(&["config", "check"])
            .ended(1)
            .err()
            .contains("server.bootstrap_key_file")
    );
}

#[test]
fn other_machines_are_only_served_with_tls_or_on_purpose() {
    let open = || checked().with("WAYPOST_SERVER__LISTEN", "0.0.0.0:0");
    let said = open().run(&["serve"]).ended(1).err();
    assert!(
        said.contains("server.listen") && said.contains("server.insecure"),
        "{said}"
    );
    open()
        .with("WAYPOST_SERVER__INSECURE", "true")
        .run(&["config", "check"])
        .done();
    let half = checked().with("WAYPOST_SERVER__TLS_CERT_FILE", "x.crt");
    assert!(
        half.run(&["config", "check"])
            .ended(1)
            .err()
            .contains("without server.tls_key_file")
    );
}

#[test]
fn postgresql_needs_a_secrets_key_and_the_refusal_says_how_to_make_one() {
    let place = checked().with("WAYPOST_DATABASE__URL", "postgres://u:hunter2@127.0.0.1:1/w");
    let said = place.run(&["serve"]).ended(1).err();
    assert!(
        said.contains("secrets.key") && said.contains("openssl rand -base64 32"),
        "{said}"
    );
    assert!(!said.contains("hunter2"));
}

#[test]
fn contradictions_are_refused() {
    let place = checked()
        .with("WAYPOST_OUTBOX__STUCK_AGE_THRESHOLD", "5s")
        .with("WAYPOST_OUTBOX__DISPATCH_INTERVAL", "10s");
    assert!(
        place
            .run(&["config", "check"])
            .ended(1)
            .err()
            .contains("outbox.stuck_age_threshold")
    );
    let place = checked().with("WAYPOST_OUTBOX__DELIVERED_KPI_WINDOW", "60d");
    assert!(
        place
            .run(&["config", "check"])
            .ended(1)
            .err()
            .contains("outbox.delivered_kpi_window")
    );
}

#[test]
fn init_writes_a_file_that_checks_and_does_not_overwrite_one() {
    let place = checked();
    place.run(&["config", "init"]).done();
    assert!(
        place
            .run(&["config", "check"])
            .done()
            .out()
            .contains("waypost.toml")
    );
    place.run(&["config", "init"]).ended(4);
    place
        .run(&["config", "check", "--config", "nowhere.toml"])
        .ended(1);
}

#[test]
fn init_writes_the_file_that_was_named_with_config() {
    let place = checked();
    place.run(&["config", "init", "--config", "other.toml"]).done();
    assert!(place.path().join("other.toml").exists() && !place.path().join("waypost.toml").exists());
    let said = place
        .run(&["config", "check", "--config", "other.toml"])
        .done()
        .out();
    assert!(said.contains("other.toml"), "{said}");
}

#[test]
fn a_check_reads_the_files_of_the_links_tls_as_a_start_would() {
    let place = checked()
        .with("WAYPOST_SERVER__LINK_TLS_CERT_FILE", "link.pem")
        .with("WAYPOST_SERVER__LINK_TLS_KEY_FILE", "link.key");
    for missing in [true, false] {
        if !missing {
            place.write("link.pem", "not a certificate");
            place.write("link.key", "not a key");
        }
        let said = place.run(&["config", "check"]).ended(1).err();
        assert!(said.contains("TLS for sites cannot be set up"), "{said}");
    }
}

#[test]
fn a_check_opens_the_database_and_the_ports() {
    let refused = |name: &str, value: &str, wanted: &str| {
        let place = checked()
            .with("WAYPOST_SERVER__INSECURE", "true")
            .with(name, value);
        place.write("notes.txt", "This is no database, and no folder.");
        let said = place.run(&["config", "check"]).ended(1).err();
        assert!(said.contains(wanted), "{value}: {said}");
    };
    let database = "WAYPOST_DATABASE__URL";
    refused(database, "sqlite://notes.txt", "is not a SQLite database");
    refused(database, "sqlite://.", "cannot open");
    refused(database, "sqlite://notes.txt/waypost.db", "cannot make");
    // An address of nobody's: no machine has it to listen on.
    refused(
        "WAYPOST_SERVER__LISTEN",
        "192.0.2.1:8080",
        "cannot listen on 192.0.2.1:8080 (server.listen)",
    );
    refused(
        "WAYPOST_SERVER__LINK_LISTEN",
        "192.0.2.1:8081",
        "(server.link_listen)",
    );
    let (address, other) = (something_else(), "127.0.0.1:0");
    // Serve would fail there, so the check does.
    for (key, free) in [("LISTEN", "LINK_LISTEN"), ("LINK_LISTEN", "LISTEN")] {
        let place = checked()
            .with(&format!("WAYPOST_SERVER__{key}"), &address)
            .with(&format!("WAYPOST_SERVER__{free}"), other);
        let said = place.run(&["config", "check"]).ended(1).err();
        let key = key.to_lowercase();
        let wanted = format!("cannot listen on {address} (server.{key}): something else");
        assert!(said.contains(&wanted), "{said}");
    }
    let one = "127.0.0.1:7999";
    for other in [one, "0.0.0.0:7999"] {
        let place = checked()
            .with("WAYPOST_SERVER__INSECURE", "true")
            .with("WAYPOST_SERVER__LISTEN", one)
            .with("WAYPOST_SERVER__LINK_LISTEN", other);
        let said = place.run(&["config", "check"]).ended(1).err();
        assert!(said.contains("is taken already, by server.listen"), "{said}");
    }
    let nobody = checked()
        .with(
            "WAYPOST_SECRETS__KEY",
            "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U=",
        )
        .with(database, "postgres://waypost:hunter2@127.0.0.1:1/waypost");
    let said = nobody.run(&["config", "check"]).ended(1).err();
    assert!(
        said.contains("cannot reach") && !said.contains("hunter2"),
        "{said}"
    );
}

#[test]
fn a_check_tries_the_ports_of_a_sites_agent_as_well() {
    let site = |listen: &str, other: &str| {
        let place = checked();
        let config = format!(
            "[site]\nid = \"north\"\nkey = \"wps_of_north\"\nlisten = {listen:?}\napi_token = \"a-token-of-this-agent\"\n\
             insecure = true\n[site.replication]\nlisten = {other:?}\npeer = \"http://127.0.0.1:9\"\n"
        );
        place.write("waypost.toml", &config);
        place
    };
    let check = |listen: &str, other: &str| site(listen, other).run(&["config", "check"]);
    // An address of nobody's: no machine has it to listen on.
    let (free, nobodys, taken) = ("127.0.0.1:0", "192.0.2.1:8090", something_else());
    check(free, free).done();
    let wanted = |address: &str, key: &str| format!("cannot listen on {address} ({key})");
    let not_it = ": something else that is not a site's agent uses it";
    for (address, why) in [(nobodys, ""), (taken.as_str(), not_it)] {
        let said = check(address, free).ended(1).err();
        assert!(said.contains(&(wanted(address, "site.listen") + why)), "{said}");
        let said = check(free, address).ended(1).err();
        assert!(
            said.contains(&(wanted(address, "site.replication.listen") + why)),
            "{said}"
        );
    }
    let said = check("127.0.0.1:7999", "0.0.0.0:7999").ended(1).err();
    assert!(said.contains("is taken already, by site.listen"), "{said}");

    let [api, pair] = [an_address().to_string(), an_address().to_string()];
    let place = site(&api, &pair);
    let mut command = place.command(&["site"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let (_served, _) = serving(command, "site north is listening on ");
    let said = place.run(&["config", "check"]).done().err();
    for (address, key) in [(api, "site.listen"), (pair, "site.replication.listen")] {
        let wanted = format!("{address} ({key}) is in use by a site's agent");
        assert!(said.contains(&wanted), "{said}");
    }
}

#[test]
fn without_a_site_the_port_of_its_agent_is_not_looked_at_unless_it_is_named() {
    let taken = something_else();
    let said = checked()
        .with("WAYPOST_SITE__LISTEN", &taken)
        .run(&["config", "check"])
        .ended(1)
        .err();
    assert!(said.contains("(site.listen)"), "{said}");
    let said = checked().run(&["config", "check"]).done().err();
    assert!(!said.contains("site.listen"), "{said}");
}

#[test]
fn the_page_on_configuration_names_every_key() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = std::fs::read_to_string(page).unwrap();
    let shown = checked().run(&["config", "show", "--json"]).done().json();
    for shown in shown.as_array().unwrap() {
        let key = shown["key"].as_str().unwrap();
        assert!(
            page.contains(&format!("`{key}`")),
            "docs/configuration.md does not name {key}"
        );
    }
}

#[test]
fn everything_wrong_with_a_site_is_named_with_the_system_or_connection_it_is_about() {
    let place = checked();
    place.write(
        "waypost.toml",
        "[site]\nid = \"two words\"\ncentral = [\"central:7443\"]\nlisten = \"0.0.0.0:8090\"\n\
         default_retry_interval = \"0s\"\ndefault_max_retries = -1\n\
         [[site.system]]\nname = \"erp\"\nbase_url = \"erp.example\"\n\
         [[site.system]]\nname = \"erp\"\nbase_url = \"http://erp.example\"\nauth = \"bearer\"\n\
         [[site.connection]]\nname = \"history\"\nurl = \"mysql://u:hunter2@h/db\"\n",
    );
    let said = place.run(&["config", "check"]).ended(1).err();
    for wanted in ["site.default_max_retries (waypost.toml)", "0 for no limit"] {
        assert!(said.contains(wanted), "{wanted:?} is missing in:\n{said}");
    }
    let text = std::fs::read_to_string(place.path().join("waypost.toml")).unwrap();
    place.write("waypost.toml", &text.replace("default_max_retries = -1\n", ""));
    let said = place.run(&["config", "check"]).ended(1).err();
    for wanted in [
        "site.id (waypost.toml): the id may hold letters",
        "site.central (waypost.toml): \"central:7443\" is not an address like https://central.example:7443",
        "site.listen (waypost.toml): 0.0.0.0:8090 can be reached from other machines: set site.api_token",
        "site.default_retry_interval (waypost.toml): \"0ms\" will not do",
        "site.system (waypost.toml): \"erp\": base_url: takes an http:// or https:// URL",
        "site.system (waypost.toml): \"erp\": the name is used twice",
        "site.system (waypost.toml): \"erp\": auth = \"bearer\" needs token or token_file",
        "site.connection (waypost.toml): \"history\": url takes postgres://",
    ] {
        assert!(said.contains(wanted), "{wanted:?} is missing in:\n{said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_site_without_an_id_or_with_a_blank_one_does_not_start() {
    let place = checked();
    let said = place.run(&["site"]).ended(1).err();
    assert!(said.contains("site.id: is needed for `waypost site`"), "{said}");
    for blank in ["", " "] {
        let place = checked().with("WAYPOST_SITE__ID", blank);
        let said = place.run(&["site"]).ended(1).err();
        assert!(
            said.contains("site.id (WAYPOST_SITE__ID): the id must not be blank"),
            "{said}"
        );
    }
    let place = checked()
        .with("WAYPOST_SITE__ID", "north")
        .with("WAYPOST_SITE__CENTRAL", "http://127.0.0.1:1");
    let said = place.run(&["site"]).ended(1).err();
    assert!(said.contains("site.key: is needed with site.central"), "{said}");
    let far = checked()
        .with("WAYPOST_SITE__ID", "north")
        .with("WAYPOST_SITE__KEY", "wp_0123456789")
        .with("WAYPOST_SITE__CENTRAL", "http://central.example:7443");
    let said = far.run(&["site"]).ended(1).err();
    assert!(
        said.contains("site.insecure") && !said.contains("wp_0123456789"),
        "{said}"
    );
}

#[test]
fn of_systems_and_connections_only_their_names_are_shown() {
    let place = checked();
    place.write(
        "waypost.toml",
        "[site]\nid = \"north\"\n[[site.system]]\nname = \"erp\"\nbase_url = \"http://erp.example\"\nauth = \"bearer\"\ntoken = \"hunter2hunter2\"\n",
    );
    let shown = place.run(&["config", "show"]).done().out();
    assert!(shown.contains("[erp]") && !shown.contains("hunter2"), "{shown}");
}
