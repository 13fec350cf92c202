//! Values that the API's description uses in its examples: bodies that are accepted as they stand, and what stands in
//! a path. They tell one story (a notification to ann, a list `ops`, a provider `mail`), so that one example finds what
//! another made.

use serde_json::{Value, json};

/// The notification that the example of `POST /api/notifications` hands in and the others ask for.
const NOTIFICATION: &str = "0198f3c2-6b1e-7c40-9a55-3d1f0a9b8c7d";

/// A body of this shape; `in_path` when the path already names the thing. None: one is made of the schema.
pub fn body(shape: &str, in_path: bool) -> Option<Value> {
    let recipients = json!([{"address": "ann@example.com", "name": "Ann"}]);
    Some(match shape {
        "SubmitRequest" => json!({
            "notificationId": NOTIFICATION, "to": ["ann@example.com"], "subject": "Tank 4 is full", "body": "Level 98 %",
        }),
        "BatchRequest" => json!({"notifications": [
            {"idempotencyKey": "tank-4-full", "to": ["ann@example.com"], "subject": "Tank 4 is full", "body": "Level 98 %"},
            {"idempotencyKey": "tank-5-full", "to": ["ann@example.com"], "subject": "Tank 5 is full", "body": "Level 97 %"},
        ]}),
        "BulkRequest" => json!({"filter": {"errorCode": "TIMEOUT"}, "dryRun": true}),
        "EventReplayRequest" => {
            json!({"filter": {"status": "Deferred", "eventType": "booking.confirmed"}, "dryRun": true})
        }
        "ScheduleReplayRequest" => json!({"filter": {"eventType": "booking.confirmed"}, "dryRun": true}),
        "SiteBulkRequest" => json!({"filter": {"target": "erp"}, "dryRun": true}),
        "ListRequest" if in_path => json!({"recipients": recipients}),
        "ListRequest" => json!({"name": "ops", "recipients": recipients}),
        "EntryRequest" => json!({"address": "ann@example.com", "name": "Ann"}),
        "ProviderRequest" => {
            let settings = json!({"host": "mail.example.com", "from": "Waypost <waypost@example.com>"});
            match in_path {
                true => json!({"settings": settings}),
                false => json!({"id": "mail", "kind": "smtp", "settings": settings}),
            }
        }
        "ReasonRequest" => json!({"reason": "the tank was emptied by hand"}),
        "ResendRequest" => json!({"expiresAt": "2099-12-31T23:59:59.000Z"}),
        "TestRequest" => json!({"to": "ann@example.com"}),
        "HoldRequest" => json!({"reason": "the mail server moves"}),
        "KeyRequest" => json!({"name": "alarm server", "role": "producer"}),
        "UserRequest" => json!({"name": "ann", "role": "operator"}),
        "UserChange" => json!({"role": "operator"}),
        "SiteRequest" => json!({"id": "plant-north"}),
        "TenantRequest" => json!({"name": "harbour"}),
        "TemplateRequest" if in_path => {
            json!({"subject": "Booking {{bookingId}}", "body": "See you on {{checkinDate}}.", "version": 1})
        }
        "TemplateRequest" => json!({
            "eventType": "booking.confirmed", "channel": "Email", "to": "guest.email", "subject": "Booking {{bookingId}}",
            "body": "Dear {{guestName}}, see you on {{checkinDate}}.",
        }),
        "UnsavedPreviewRequest" => json!({
            "eventType": "booking.confirmed", "channel": "Email", "body": "See you on {{checkinDate}}.",
            "payload": {"checkinDate": "2026-03-15T00:00:00Z"},
        }),
        "PreviewRequest" => json!({"payload": {"guestName": "Asha", "checkinDate": "2026-03-15T00:00:00Z"}}),
        "TemplateTestRequest" => json!({"to": "ann@example.com", "payload": {"guestName": "Asha"}}),
        "SuppressionRequest" => {
            json!({"address": "ann@example.com", "channel": "Email", "reason": "asked by phone"})
        }
        "ChannelRequest" => json!({"failover": true}),
        "TemplateSettingsView" => json!({"dateFormat": "%d-%b-%Y", "zone": "Asia/Kolkata"}),
        "EventRequest" => json!({
            "eventType": "booking.confirmed", "entityId": "12345",
            "payload": {"guestName": "Asha", "guestEmail": "asha@example.com", "checkinDate": "2026-03-15T00:00:00Z"},
        }),
        "EventTypeRequest" => {
            json!({"dedupe": "entity", "addresses": {"Email": "guestEmail"}, "required": ["guestName"]})
        }
        "EntityResendRequest" => json!({"channel": "Email"}),
        "ReplayBody" => json!({"newTemplates": true}),
        _ => return None,
    })
}

/// What stands for a parameter in the path.
pub fn in_path(path: &str, name: &str) -> &'static str {
    let resource = path.split('/').nth(2).unwrap_or_default();
    match (resource, name) {
        ("lists", "name") => "ops",
        (_, "address") => "ann@example.com",
        ("providers", _) => "mail",
        ("sites", "id") => "plant-north",
        ("tenants", _) => "harbour",
        ("keys" | "users", _) => "2",
        ("message-templates", "version") => "1",
        ("message-templates" | "suppressions", _) => "7",
        ("event-types", _) => "booking.confirmed",
        ("channels", _) => "Sms",
        ("entities", "type") => "booking",
        ("bookings" | "entities", _) => "12345",
        (_, "name") => "ops",
        (_, "n") => "1",
        _ => NOTIFICATION,
    }
}

/// The query of an example that would otherwise answer with everything.
pub fn query(path: &str) -> &'static str {
    match path {
        "/api/notifications" => "?status=Parked&limit=10",
        "/api/audit" => "?kind=NotifyRequeue&limit=10",
        "/api/communication-logs" => "?bookingId=12345",
        _ => "",
    }
}
