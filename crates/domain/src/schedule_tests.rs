use super::*;
use std::borrow::Cow;

fn rule(from: &str, change: impl FnOnce(&mut ScheduleRule)) -> ScheduleRule {
    let mut rule = ScheduleRule {
        from: from.into(),
        r#as: DateMeaning::Date,
        offset: None,
        at: None,
        zone: None,
        late: Late::Send,
        grace: ten_minutes(),
    };
    change(&mut rule);
    rule
}

fn due(rule: &ScheduleRule, date: &str) -> Result<String, NoTime> {
    let value = |key: &str| match key {
        "checkinDate" => Some(Cow::Borrowed(date)),
        "listing.zone" => Some(Cow::Borrowed("America/Los_Angeles")),
        _ => None,
    };
    rule.due(value).map(|t| t.to_string())
}

#[test]
fn one_day_before_check_in_at_six_in_the_evening_of_the_listings_zone() {
    let rule = rule("checkinDate", |r| {
        r.offset = Some("-1d".into());
        r.at = Some("18:00".into());
        r.zone = Some("Asia/Kolkata".into());
    });
    assert_eq!(
        due(&rule, "2026-03-15T00:00:00Z").unwrap(),
        "2026-03-14T12:30:00.000Z"
    );
    assert_eq!(due(&rule, "2026-03-15").unwrap(), "2026-03-14T12:30:00.000Z");
}

#[test]
fn a_date_as_written_is_the_same_day_west_of_utc_and_a_moment_is_not() {
    let written = rule("checkinDate", |r| {
        r.at = Some("09:00".into());
        r.zone = Some("listing.zone".into());
    });
    assert_eq!(
        due(&written, "2026-03-15T00:00:00Z").unwrap(),
        "2026-03-15T16:00:00.000Z"
    );
    let moment = ScheduleRule {
        r#as: DateMeaning::Instant,
        ..written
    };
    assert_eq!(
        due(&moment, "2026-03-15T00:00:00Z").unwrap(),
        "2026-03-14T16:00:00.000Z"
    );
}

#[test]
fn a_gap_moves_forward_and_a_fold_takes_the_earlier() {
    let berlin = |at: &str| {
        rule("checkinDate", |r| {
            r.at = Some(at.into());
            r.zone = Some("Europe/Berlin".into());
        })
    };
    assert_eq!(
        due(&berlin("02:30"), "2026-03-29").unwrap(),
        "2026-03-29T01:30:00.000Z"
    );
    assert_eq!(
        due(&berlin("02:30"), "2026-10-25").unwrap(),
        "2026-10-25T00:30:00.000Z"
    );
}

#[test]
fn days_are_days_of_the_calendar_and_hours_are_time() {
    let berlin = |offset: &str| {
        rule("checkinDate", |r| {
            r.at = Some("12:00".into());
            r.zone = Some("Europe/Berlin".into());
            r.offset = Some(offset.into());
        })
    };
    assert_eq!(
        due(&berlin("+1d"), "2026-03-28").unwrap(),
        "2026-03-29T10:00:00.000Z"
    );
    assert_eq!(
        due(&berlin("+24h"), "2026-03-28").unwrap(),
        "2026-03-29T11:00:00.000Z"
    );
    assert_eq!(
        due(&berlin("-1d 2h"), "2026-06-02").unwrap(),
        "2026-06-01T08:00:00.000Z"
    );
}

#[test]
fn what_cannot_be_told_is_said_in_words() {
    let plain = rule("checkinDate", |_| {});
    assert_eq!(
        due(&rule("nowhere", |_| {}), "x").unwrap_err(),
        "Missing data: nowhere"
    );
    assert!(due(&plain, "soon").unwrap_err().contains("not a date"));
    assert!(due(&plain, "2026-02-30").unwrap_err().contains("not a date"));
    let bad_zone = rule("checkinDate", |r| r.zone = Some("Mars/Olympus".into()));
    assert!(
        due(&bad_zone, "2026-03-15")
            .unwrap_err()
            .contains("not a time zone")
    );
    let far = rule("checkinDate", |r| r.offset = Some("+3660d".into()));
    assert!(due(&far, "9999-12-31").unwrap_err().contains("calendar"));
}

#[test]
fn a_rule_names_every_bad_field() {
    let bad = rule(" ", |r| {
        r.offset = Some("soon".into());
        r.at = Some("25:00".into());
    });
    let fields: Vec<_> = bad.problems().into_iter().map(|p| p.field).collect();
    assert_eq!(fields, ["schedule.from", "schedule.offset", "schedule.at"]);
    for offset in ["", "-", "1x", "99999999999999999999d", "-4000d"] {
        assert_eq!(Offset::parse(offset), None, "{offset}");
    }
}

#[test]
fn late_is_past_by_more_than_the_grace() {
    let rule = rule("checkinDate", |_| {});
    let due = Timestamp::from_millis(1_000_000);
    assert!(!rule.is_late(due, due + Duration::from_secs(600)));
    assert!(rule.is_late(due, due + Duration::from_secs(601)));
}
