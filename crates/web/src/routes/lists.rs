//! Lists and who is on them.

use super::PAGING;
use crate::{
    access::Access::{Administer, Read},
    api::{lists, recipients},
    dto::list::{EntryRequest, EntryView, ListRequest, ListView},
    endpoint::{Endpoint, delete, get, post, put},
    problem::Code::Conflict,
};

pub(super) fn routes() -> Vec<Endpoint> {
    vec![
        get("/api/lists", Read, "Notification lists", lists::list)
            .params(&PAGING)
            .pages::<ListView>("A page"),
        post("/api/lists", Administer, "Make a list", lists::create)
            .body::<ListRequest>()
            .answers::<ListView>(201, "The list")
            .refuses(&[Conflict]),
        get("/api/lists/{name}", Read, "One list", lists::get).answers::<ListView>(200, "The list"),
        put("/api/lists/{name}", Administer, "Replace a list", lists::replace)
            .body::<ListRequest>()
            .answers::<ListView>(200, "The list"),
        delete("/api/lists/{name}", Administer, "Remove a list", lists::delete).empty("It is gone"),
        get(
            "/api/lists/{name}/recipients",
            Read,
            "Who is on a list",
            recipients::list,
        )
        .params(&PAGING)
        .pages::<EntryView>("A page"),
        post(
            "/api/lists/{name}/recipients",
            Administer,
            "Put somebody on a list",
            recipients::add,
        )
        .body::<EntryRequest>()
        .answers::<EntryView>(201, "The entry")
        .refuses(&[Conflict]),
        put(
            "/api/lists/{name}/recipients/{address}",
            Administer,
            "Replace an entry of a list",
            recipients::replace,
        )
        .params(&[("type", "which, if the address is on the list for several types")])
        .body::<EntryRequest>()
        .answers::<EntryView>(200, "The entry"),
        delete(
            "/api/lists/{name}/recipients/{address}",
            Administer,
            "Take somebody off a list",
            recipients::remove,
        )
        .params(&[("type", "which, if the address is on the list for several types")])
        .empty("It is gone"),
    ]
}
