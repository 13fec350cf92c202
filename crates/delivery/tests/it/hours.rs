//! Services that take some messages at certain hours only.

use crate::world::{adapter, message};
use domain::{Channel, Timestamp};
use serde_json::json;

/// 23:00 in India on the first of January 2026.
const ELEVEN_AT_NIGHT: Timestamp = Timestamp::from_millis(1_767_288_600_000);
const ELEVEN_HOURS: std::time::Duration = std::time::Duration::from_secs(11 * 3600);

#[test]
fn promotional_messages_by_msg91_wait_for_the_morning_and_no_others() {
    let settings = json!({
        "authkey": "k", "templates": {"offer": "64f0 category=promotional", "bill": "64f1"},
    });
    let msg91 = adapter("msg91", settings);
    let of = |template: &str| {
        let mut message = message(Channel::Sms, &["+919876543210"]);
        message.content.type_data = Some(json!({"template": {"name": template}}).to_string());
        message
    };
    let morning = ELEVEN_AT_NIGHT + ELEVEN_HOURS;
    assert_eq!(msg91.not_before(&of("offer"), ELEVEN_AT_NIGHT), Some(morning));
    assert_eq!(msg91.not_before(&of("offer"), morning), None);
    assert_eq!(msg91.not_before(&of("bill"), ELEVEN_AT_NIGHT), None);
    assert!(msg91.asks_one_by_one());
    assert!(!adapter("webhook", json!({"url": "https://a.example/"})).asks_one_by_one());
}
