//! Keys, users and tenants.

use super::PAGING;
use crate::{
    access::Access::{Administer, Tenants},
    api::{keys, tenants, users},
    dto::{
        key::{KeyRequest, KeyView, NewKeyView},
        tenant::{NewTenantView, TenantRequest, TenantView},
        user::{LinkView, UserChange, UserRequest, UserView},
    },
    endpoint::{Endpoint, delete, get, post, put},
    problem::Code::{Conflict, ValidationFailed},
};

pub(super) fn routes() -> Vec<Endpoint> {
    vec![
        get("/api/keys", Administer, "API keys", keys::list)
            .params(&PAGING)
            .pages::<KeyView>("A page"),
        post("/api/keys", Administer, "Make an API key", keys::create)
            .body::<KeyRequest>()
            .answers::<NewKeyView>(201, "The key; its text is shown this once")
            .refuses(&[Conflict]),
        delete("/api/keys/{id}", Administer, "Revoke an API key", keys::revoke).empty("It no longer works"),
        get("/api/users", Administer, "Users of the console", users::list)
            .params(&PAGING)
            .pages::<UserView>("A page"),
        post("/api/users", Administer, "Add a user", users::create)
            .body::<UserRequest>()
            .answers::<UserView>(201, "The user")
            .refuses(&[Conflict]),
        get("/api/users/{id}", Administer, "One user", users::get).answers::<UserView>(200, "The user"),
        put(
            "/api/users/{id}",
            Administer,
            "Change a user's role, password or access",
            users::change,
        )
        .body::<UserChange>()
        .answers::<UserView>(200, "The user")
        .refuses(&[Conflict]),
        delete(
            "/api/users/{id}",
            Administer,
            "Take a user's role in the tenant away",
            users::remove,
        )
        .empty("They may do nothing here any more")
        .refuses(&[Conflict]),
        post(
            "/api/users/{id}/link",
            Administer,
            "Make a link that signs a user in once",
            users::link,
        )
        .answers::<LinkView>(201, "The link; shown this once")
        .refuses(&[ValidationFailed]),
        get("/api/tenants", Tenants, "Tenants", tenants::list)
            .params(&PAGING)
            .pages::<TenantView>("A page"),
        post(
            "/api/tenants",
            Tenants,
            "Make a tenant, and its first key if asked",
            tenants::create,
        )
        .body::<TenantRequest>()
        .answers::<NewTenantView>(201, "The tenant")
        .refuses(&[Conflict]),
        delete(
            "/api/tenants/{name}",
            Tenants,
            "Remove a tenant on which nothing hangs: no provider, nothing waiting or parked",
            tenants::remove,
        )
        .empty("It is gone; what it sent stays until it is purged")
        .refuses(&[Conflict]),
    ]
}
