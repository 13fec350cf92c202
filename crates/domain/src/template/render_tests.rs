use super::*;
use crate::{Channel, template::ProviderTemplate};

fn booking() -> Payload {
    Payload::read(
        r#"{"bookingId": 12345, "guestPhone": "+919876543210", "guest": {"name": "Asha <b>Rao</b>\r\nBcc: x@y", "email": "asha@example.com"},
            "checkinDate": "2026-03-15T00:00:00Z", "total": 10.50, "evil": "{{guestPhone}} {{evil}}", "zone": "Asia/Kolkata"}"#,
    )
    .unwrap()
}

fn body(text: &str) -> TemplateContent {
    TemplateContent {
        body: text.into(),
        active: true,
        ..TemplateContent::default()
    }
}

fn rendered(content: &TemplateContent) -> Rendered {
    content.render(&booking(), &RenderStyle::default()).unwrap()
}

#[test]
fn placeholders_are_filled_in_whatever_their_spelling() {
    let text = "{{BOOKINGID}} {{ guest.Phone }} {{checkinDate}} {{total}} {{guest.email}} {{checkinDate|%d.%m.%y}} {{checkinDate | raw}}";
    let found = rendered(&body(text));
    let expected = "12345 +919876543210 15-Mar-2026 10.50 asha@example.com 15.03.26 2026-03-15T00:00:00Z";
    assert_eq!((found.body.as_str(), found.warnings.len()), (expected, 0));
}

#[test]
fn a_value_is_never_expanded_again() {
    let found = rendered(&body("<{{evil}}> {{{{evil}}}}"));
    assert_eq!(
        found.body,
        "<{{guestPhone}} {{evil}}> {{{{guestPhone}} {{evil}}}}"
    );
}

#[test]
fn a_value_is_text_in_html_and_one_line_in_a_subject() {
    let content = TemplateContent {
        subject: Some("For {{guest.name}}".into()),
        body_html: Some("<p title=\"{{guest.name}}\">{{guest.name}}</p>".into()),
        ..body("{{guest.name}}")
    };
    let found = rendered(&content);
    assert_eq!(found.subject, "For Asha <b>Rao</b>  Bcc: x@y");
    assert_eq!(found.body, "Asha <b>Rao</b>\r\nBcc: x@y");
    let html = found.body_html.unwrap();
    assert!(
        html.starts_with("<p title=\"Asha &lt;b&gt;Rao&lt;/b&gt;"),
        "{html}"
    );
    assert_eq!(html.matches("<b>").count(), 0);
}

#[test]
fn what_is_missing_is_empty_or_kept_and_told_once() {
    let content = body("[{{nobody}}] [{{ nobody }}] [{{bookingId}}]");
    let found = rendered(&content);
    assert_eq!(found.body, "[] [] [12345]");
    assert_eq!(found.warnings, ["{{nobody}} has no value"]);
    let keep = RenderStyle {
        missing: MissingPlaceholder::Keep,
        ..RenderStyle::default()
    };
    let found = content.render(&booking(), &keep).unwrap();
    assert_eq!(found.body, "[{{nobody}}] [{{ nobody }}] [12345]");
}

#[test]
fn dates_follow_the_template_before_the_tenant() {
    let tenant = RenderStyle {
        date: DateStyle {
            format: "%Y/%m/%d".into(),
            ..DateStyle::default()
        },
        ..RenderStyle::default()
    };
    let found = body("{{checkinDate}}").render(&booking(), &tenant).unwrap();
    assert_eq!(found.body, "2026/03/15");
    let content = TemplateContent {
        date_format: Some("%d %b %H:%M".into()),
        date_as: Some(DateAs::Instant),
        zone: Some("{{zone}}".into()),
        ..body("{{checkinDate}}")
    };
    assert_eq!(content.render(&booking(), &tenant).unwrap().body, "15 Mar 05:30");
    let nowhere = TemplateContent {
        zone: Some("{{guest.email}}".into()),
        ..content
    };
    let found = nowhere.render(&booking(), &tenant).unwrap();
    assert_eq!(found.body, "15 Mar 00:00");
    assert_eq!(found.warnings, ["there is no zone \"asha@example.com\""]);
}

#[test]
fn a_services_own_template_gets_its_values_in_order_and_on_one_line() {
    let content = TemplateContent {
        provider_template: Some(ProviderTemplate {
            name: "booking_confirmed".into(),
            language: Some("en".into()),
            params: vec!["guest.name".into(), "{{checkinDate}} at {{total}}".into()],
            dlt_id: Some("1107".into()),
        }),
        to: Some("guestPhone".into()),
        ..body("")
    };
    let found = rendered(&content);
    assert_eq!(found.to.as_deref(), Some("+919876543210"));
    let data: serde_json::Value = serde_json::from_str(found.type_data.as_ref().unwrap()).unwrap();
    assert_eq!(
        data,
        json!({"template": {"name": "booking_confirmed", "language": "en", "dltId": "1107",
            "params": ["Asha <b>Rao</b> Bcc: x@y", "15-Mar-2026 at 10.50"]}})
    );
    let identity = TemplateIdentity {
        event_type: "booking.confirmed".into(),
        channel: Channel::WhatsApp,
        name: "default".into(),
        language: None,
        scope: None,
    };
    let made = found.into_content(&identity, &content, vec!["+919876543210".into()]);
    assert!(made.problems().is_empty(), "{:?}", made.problems());
    assert_eq!(made.target, Target::Recipients(vec!["+919876543210".into()]));
}

#[test]
fn nothing_grows_beyond_its_limit() {
    let mut values = Payload::default();
    values.set("big", Some("x".repeat(1 << 20)));
    let many = body(&"{{big}}".repeat(10_000));
    let refused = many.render(&values, &RenderStyle::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("filled in, body is longer than {} bytes", limit::BODY)
    );
    let long = TemplateContent {
        subject: Some("{{big}}".into()),
        ..body("b")
    };
    let found = long.render(&values, &RenderStyle::default()).unwrap();
    assert_eq!(found.subject.len(), limit::SUBJECT);
}
