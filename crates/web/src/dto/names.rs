//! The words a field may hold, as the OpenAPI document shows them: taken from the domain's own lists.

use domain::{
    AuditKind, AuditStatus, Channel, DeliveryState, EventStatus, HoldReason, LaneState, ReceiptState,
    RecipientState, ScheduleStatus, Status, WaitReason,
    site::{Category, OperationStatus, WaitingStatus},
    suppression::SuppressionSource,
};
use std::borrow::Cow;
use store::directory::Role;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr,
        schema::{KnownFormat, Schema, SchemaFormat, SchemaType, Type},
    },
};

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident($shown:literal) = $words:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some($words)).into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed($shown)
            }
        }
    )*};
}

words! {
    StatusName("Status") = Status::CENTRAL.iter().map(|s| s.as_str());
    DeliveryStateName("DeliveryState") = DeliveryState::ALL.iter().map(|s| s.as_str());
    TypeName("Type") = Channel::ALL.iter().map(|c| c.as_str());
    AuditKindName("AuditKind") = AuditKind::ALL.iter().map(|k| k.as_str());
    AuditStatusName("AuditStatus") = AuditStatus::ALL.iter().map(|s| s.as_str());
    HoldReasonName("HoldReason") = HoldReason::ALL.iter().map(|r| r.as_str());
    LaneStateName("LaneState") = LaneState::ALL.iter().map(|s| s.as_str());
    WaitReasonName("WaitReason") = WaitReason::ALL.iter().map(|r| r.as_str());
    RoleName("Role") = Role::ALL.iter().map(|r| r.as_str());
    CategoryName("Category") = Category::ALL.iter().map(|c| c.as_str());
    OperationStatusName("OperationStatus") = OperationStatus::ALL.iter().map(|s| s.as_str());
    WaitingStatusName("SiteWaitingStatus") = WaitingStatus::ALL.iter().map(|s| s.as_str());
    PresenceName("Presence") = ["NeverSeen", "Online", "Offline"];
    RecipientStateName("RecipientState") = RecipientState::ALL.iter().map(|s| s.as_str());
    ReceiptStateName("ReceiptState") = ReceiptState::ALL.iter().map(|s| s.as_str());
    OutcomeName("Outcome") = ["Delivered", "Transient", "Permanent", "Unknown", "Ambiguous", "Mixed"];
    ReceiptsByName("ReceiptsBy") = ["none", "itsSettings", "eachMessage"];
    SettingTypeName("SettingType") = ["text", "url", "number", "boolean", "duration", "choice", "map"];
    TranscriptSideName("TranscriptSide") = ["sent", "received"];
    SuppressionSourceName("SuppressionSource") = SuppressionSource::ALL.iter().map(|s| s.as_str());
    DateAsName("DateAs") = ["date", "instant"];
    EventStatusName("EventStatus") = EventStatus::ALL.iter().map(|s| s.as_str());
    ScheduleStatusName("ScheduleStatus") = ScheduleStatus::ALL.iter().map(|s| s.as_str());
    EventReplayName("ReplayableEventStatus") = ["Failed", "Deferred"];
    ScheduleReplayName("ReplayableScheduleStatus") = ["Failed", "Completed", "Cancelled"];
    CameToName("CameTo") = ["created", "found", "skipped", "refused"];
    DedupeName("Dedupe") = ["entity", "event"];
    ShapeName("RetryShape") = ["fixed", "exponential"];
    OnAmbiguousName("OnAmbiguous") = ["resend", "park"];
    ActionName("BulkAction") = ["retry", "discard", "cancel", "resend", "replay"];
    CodeName("ProblemCode") = crate::problem::Code::ALL.iter().map(|c| c.as_str());
}

/// An id of 128 bits.
#[derive(Debug)]
pub struct Id;

impl PartialSchema for Id {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::Custom("uuid".into())))
            .into()
    }
}

impl ToSchema for Id {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Uuid")
    }
}

/// A moment in UTC.
#[derive(Debug)]
pub struct Time;

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("UTC, RFC 3339, to the millisecond"))
            .examples(["2026-01-31T13:45:00.000Z"])
            .into()
    }
}

impl ToSchema for Time {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Time")
    }
}

/// A duration as people write it.
#[derive(Debug)]
pub struct Span;

impl PartialSchema for Span {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "a duration: 250ms, 10s, 5m, 2h, 7d; a plain number is seconds",
            ))
            .examples(["10s"])
            .into()
    }
}

impl ToSchema for Span {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Duration")
    }
}

/// What a setting is when it is left out.
#[derive(Debug)]
pub struct SettingDefault;

impl PartialSchema for SettingDefault {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Number, Type::Boolean]))
            .description(Some(
                "of the setting's own type; a duration or a choice is a text",
            ))
            .into()
    }
}

impl ToSchema for SettingDefault {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("SettingDefault")
    }
}
