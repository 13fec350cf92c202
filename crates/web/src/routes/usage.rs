//! What hangs on something that may be removed.

use crate::{
    access::Access::{Read, Tenants},
    api::usage,
    dto::usage::UsageView,
    endpoint::{Endpoint, get},
};

pub(super) fn routes() -> Vec<Endpoint> {
    let told = "What would miss it, each counted up to 1,000";
    vec![
        get(
            "/api/lists/{name}/usage",
            Read,
            "What hangs on a list",
            usage::of_list,
        )
        .answers::<UsageView>(200, told),
        get(
            "/api/providers/{id}/usage",
            Read,
            "What hangs on a provider",
            usage::of_provider,
        )
        .answers::<UsageView>(200, told),
        get(
            "/api/message-templates/{id}/usage",
            Read,
            "What hangs on a template: schedules of its event type that wait, and when it was last used",
            usage::of_template,
        )
        .answers::<UsageView>(200, told),
        get(
            "/api/event-types/{name}/usage",
            Read,
            "What hangs on a type of event",
            usage::of_event_type,
        )
        .answers::<UsageView>(200, told),
        get(
            "/api/tenants/{name}/usage",
            Tenants,
            "What hangs on a tenant",
            usage::of_tenant,
        )
        .answers::<UsageView>(200, told),
    ]
}
