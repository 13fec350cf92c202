//! What is true about notifications, in reading order: who they are ([`id`]), when it is ([`clock`]), what was
//! asked for ([`content`], [`submission`]), where it stands ([`status`]), what an attempt taught us ([`outcome`]), what
//! follows from that ([`retry`], [`settle`]), and what is told later ([`receipt`]); and texts that events fill ([`template`]).
//!
//! Leaves to others: rows (`store`), sockets (`delivery`), wire formats (`web`), configuration files (`waypost`).
//! Always true: nothing here does IO, waits, or reads a clock it was not given.

pub mod address;
pub mod audit;
pub mod causes;
pub mod channel;
pub mod clock;
pub mod code;
pub mod content;
pub mod delivery_state;
pub mod duration;
pub mod event;
pub mod field_error;
pub mod filter;
pub mod hold;
pub mod hours;
pub mod id;
pub mod kpi;
pub mod lane_report;
pub mod lock;
pub mod opt_out;
pub mod outcome;
pub mod pair;
pub mod places;
pub mod provider;
pub mod receipt;
pub mod recipient;
pub mod retry;
pub mod schedule;
pub mod search;
pub mod settle;
pub mod site;
pub mod status;
pub mod submission;
pub mod suppression;
pub mod template;
pub mod trace;
pub mod transcript;
pub mod usage;
pub mod waiting;
pub mod window;
pub mod zone;

pub use audit::{AuditKind, AuditStatus};
pub use causes::chain;
pub use channel::Channel;
pub use clock::{Clock, ClockJump, ClockWatch, ManualClock, SystemClock, Timestamp};
pub use content::{Content, Target};
pub use delivery_state::DeliveryState;
pub use event::{EventId, EventOrigin, EventStatus, EventType, ScheduleStatus};
pub use field_error::FieldError;
pub use filter::{TextFilter, TextFilters};
pub use hold::{Hold, HoldReason};
pub use id::{
    Actor, ExecutionId, LaneId, LeaseToken, NotificationId, ProviderId, Seq, SiteId, TemplateId, TenantId,
    TrackedOperationId, UserId,
};
pub use lane_report::{LaneReport, LaneState};
pub use opt_out::{OptOut, OptOutOf};
pub use outcome::{Accepted, Failure, FailureKind, Outcome, RecipientReport, Scope};
pub use provider::{Limits, OnAmbiguous};
pub use receipt::{Correlation, Receipt, ReceiptState};
pub use recipient::{Recipient, RecipientResult, RecipientState};
pub use retry::{AttemptFacts, Jitter, ParkReason, RetryPolicy, Verdict};
pub use search::IdRange;
pub use status::Status;
pub use submission::Submission;
pub use trace::{TraceContext, Tracer};
pub use transcript::Transcript;
pub use usage::Usage;
pub use waiting::{WaitFacts, WaitReason, Waiting};
pub use zone::Zone;
