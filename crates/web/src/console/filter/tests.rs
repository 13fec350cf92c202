use super::*;
use central::jobs::Action;
use domain::Status;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn asked(uri: &str) -> ListQuery {
    let mut params = Params::for_test(uri);
    let asked = ListQuery::read(&mut params, &Zone::default());
    params.finish().unwrap();
    asked
}

#[test]
fn filters_survive_their_own_address() {
    let uri = "/notifications?status=Parked&status=Pending&type=Email&site=a%20b&q=x%26y&from=2026-01-01T10:00&stuck=true";
    let first = asked(uri);
    let again = asked(&format!("/?{}", first.query()));
    assert_eq!(first, again);
    let filter = first.filter(NOW, Duration::from_secs(600));
    assert_eq!(filter.from.unwrap().to_string(), "2026-01-01T10:00:00.000Z");
    assert_eq!(filter.status, [Status::Parked, Status::Pending]);
}

#[test]
fn what_cannot_be_read_and_what_is_unknown_is_refused_by_name() {
    let uri = "/?status=Parkd&type=Pigeon&from=yesterday&to=2026-01-01&range=2w&stuck=perhaps&errocode=X";
    let mut params = Params::for_test(uri);
    ListQuery::read(&mut params, &Zone::default());
    let problem = params.finish().unwrap_err();
    let named: Vec<_> = problem.errors.iter().map(|p| p.field.as_str()).collect();
    assert_eq!(named, ["status", "type", "stuck", "from", "range", "errocode"]);
}

#[test]
fn the_way_back_is_a_view_of_the_list_or_the_whole_list() {
    let back = |uri: &str| Back::read(&mut Params::for_test(uri));
    let kept = back("/?back=status%3DParked%26q%3Da%2520b");
    assert_eq!(kept.list(), "/notifications?status=Parked&q=a%20b");
    assert_eq!(kept.suffix(), "?back=status%3DParked%26q%3Da%2520b");
    for none in ["/", "/?back=", "/?back=colour%3Dred", "/?back=status%3DBlue"] {
        assert_eq!(
            (back(none).list().as_str(), back(none).suffix().as_str()),
            ("/notifications", "")
        );
    }
}

#[test]
fn a_chip_leads_to_the_view_without_it() {
    let asked = asked("/?status=Parked&site=north&range=24h");
    let chips = asked.chips();
    assert_eq!(
        chips[0],
        ("Parked".into(), "/notifications?site=north&range=24h".into())
    );
    assert_eq!(
        chips[1],
        (
            "Site: north".into(),
            "/notifications?status=Parked&range=24h".into()
        )
    );
}

#[test]
fn times_are_meant_in_the_viewers_zone_and_the_address_says_which() {
    let tokyo = Zone::named("Asia/Tokyo").unwrap();
    let mut params = Params::for_test("/?from=2026-01-01T09:00&range=today");
    let asked = ListQuery::read(&mut params, &tokyo);
    let from = asked.filter(NOW, Duration::ZERO).from.unwrap();
    assert_eq!(from.to_string(), "2026-01-01T00:00:00.000Z");
    assert!(asked.query().ends_with("zone=Asia%2FTokyo"), "{}", asked.query());
    // Somebody elsewhere opens the same address.
    let mut params = Params::for_test(&format!("/?{}", asked.query()));
    assert_eq!(ListQuery::read(&mut params, &Zone::default()), asked);
    let mut params = Params::for_test("/?range=today&zone=Nowhere");
    ListQuery::read(&mut params, &tokyo);
    assert_eq!(params.finish().unwrap_err().errors[0].field, "zone");
}

#[test]
fn a_picked_and_a_typed_time_hold_both_as_their_chips_say() {
    for (from, start) in [
        ("2025-06-01T00:00", "2025-12-31T23:00:00.000Z"),
        ("2025-12-31T23:50", "2025-12-31T23:50:00.000Z"),
    ] {
        let asked = asked(&format!("/?range=1h&from={from}"));
        assert_eq!(asked.chips().len(), 2);
        let found = asked.filter(NOW, Duration::ZERO).from.unwrap();
        assert_eq!(found.to_string(), start);
    }
}

#[test]
fn an_address_made_in_utc_means_the_same_elsewhere() {
    let tokyo = Zone::named("Asia/Tokyo").unwrap();
    for uri in ["/?range=today", "/?to=2026-01-01T09:00"] {
        let made = asked(uri);
        let mut params = Params::for_test(&format!("/?{}", made.query()));
        assert_eq!(ListQuery::read(&mut params, &tokyo), made, "{uri}");
    }
    // What a form says of its zone does not outlive the times it was about.
    let mut params = Params::for_test("/?zone=UTC&range=24h");
    assert_eq!(ListQuery::read(&mut params, &tokyo).times.zone, tokyo);
}

#[test]
fn an_action_is_offered_where_the_filter_leaves_something_for_it() {
    assert_eq!(
        asked("/").actions(NOW),
        [Action::Retry, Action::Discard, Action::Cancel]
    );
    assert_eq!(asked("/?status=Delivered").actions(NOW), [Action::Resend]);
    assert_eq!(asked("/?status=Retrying").actions(NOW), [Action::Cancel]);
    let ended = asked("/?status=Delivered").bulk(Action::Resend, NOW).unwrap();
    assert_eq!(ended.ended_as, [Status::Delivered]);
    assert!(asked("/").bulk(Action::Resend, NOW).is_err());
}

#[test]
fn no_button_is_offered_that_would_always_be_refused() {
    for uri in [
        "/?stuck=true",
        "/?receipt=read",
        "/?executionId=run-1",
        "/?status=Parked&executionId=run-1",
    ] {
        assert_eq!(asked(uri).actions(NOW), [], "{uri}");
    }
}

#[test]
fn a_bulk_action_takes_the_filter_or_says_why_not() {
    assert!(
        asked("/?stuck=true")
            .bulk(Action::Retry, NOW)
            .unwrap_err()
            .contains("Only parked")
    );
    assert!(asked("/?status=Pending").bulk(Action::Discard, NOW).is_err());
    let why = asked("/?executionId=run-1").bulk(Action::Retry, NOW).unwrap_err();
    assert!(why.contains("by execution"), "{why}");
    let bulk = asked("/?status=Parked&range=1h&provider=mail")
        .bulk(Action::Retry, NOW)
        .unwrap();
    assert_eq!(
        (bulk.by.provider.as_deref(), bulk.from),
        (Some("mail"), Some(NOW - Duration::from_secs(3600)))
    );
}
