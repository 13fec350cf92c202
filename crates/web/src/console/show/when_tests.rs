use super::*;

fn shown(at: i64, now: i64) -> String {
    relative(
        Timestamp::from_millis(at * 1000),
        Timestamp::from_millis(now * 1000),
        &Zone::default(),
    )
}

#[test]
fn ages_read_like_speech() {
    assert_eq!(shown(100, 101), "just now");
    assert_eq!(shown(100, 145), "45 s ago");
    assert_eq!(shown(100, 100 + 150), "2 min ago");
    assert_eq!(shown(0, 3 * 3600), "3 h ago");
    assert_eq!(shown(0, 40 * 86_400), "40 d ago");
    assert_eq!(shown(0, 90 * 86_400), "1970-01-01");
    assert_eq!(shown(160, 100), "in 60 s");
    assert_eq!((took(85), took(1250)), ("85 ms".into(), "1.2 s".into()));
}

#[test]
fn a_date_is_the_viewers_like_the_moment_beside_it() {
    let zone = Zone::named("Asia/Tokyo").unwrap();
    let at = Timestamp::from_millis(1_767_225_600_000 - 3_600_000);
    let now = at + LONG_AGO;
    let html = When { at, now, zone: &zone }.to_string();
    assert!(
        html.contains("title=\"2026-01-01 08:00:00.000") && html.ends_with(">2026-01-01</time>"),
        "{html}"
    );
}

#[test]
fn what_is_to_come_is_now_once_it_is_there_and_never_past() {
    let zone = Zone::default();
    let coming = |now: i64| {
        let (at, now) = (Timestamp::from_millis(9_000), Timestamp::from_millis(now * 1000));
        let zone = &zone;
        Coming(When { at, now, zone }).to_string()
    };
    assert!(coming(0).ends_with(" data-coming>in 9 s</time>"));
    assert!(coming(9).ends_with(">now</time>") && coming(99).ends_with(">now</time>"));
}

#[test]
fn what_lasts_tells_for_how_long() {
    let zone = Zone::default();
    let lasting = |now: i64| {
        let (at, now) = (Timestamp::EPOCH, Timestamp::from_millis(now * 1000));
        let zone = &zone;
        Lasting(When { at, now, zone }).to_string()
    };
    assert_eq!(
        lasting(9),
        "<time datetime=\"1970-01-01T00:00:00.000Z\" title=\"since 1970-01-01 00:00:00.000 UTC\" data-lasting>for 9 s</time>"
    );
    assert!(lasting(90 * 86_400).ends_with(">since 1970-01-01</time>"));
}

#[test]
fn the_exact_moment_is_beside_it() {
    let at = Timestamp::from_millis(1_767_225_600_123);
    let zone = Zone::default();
    let html = When {
        at,
        now: at,
        zone: &zone,
    }
    .to_string();
    assert_eq!(
        html,
        "<time datetime=\"2026-01-01T00:00:00.123Z\" title=\"2026-01-01 00:00:00.123 UTC\">just now</time>"
    );
}
