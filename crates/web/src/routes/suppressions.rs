//! Who must not be written to.

use super::PAGING;
use crate::{
    access::Access::{Operate, Read},
    api::suppressions,
    dto::suppression::{SuppressionRequest, SuppressionView},
    endpoint::{Endpoint, delete, get, post},
};

pub(super) fn routes() -> Vec<Endpoint> {
    vec![
        get(
            "/api/suppressions",
            Read,
            "Who must not be written to, newest first",
            suppressions::list,
        )
        .params(&[
            ("address", "entries of this address, in any spelling"),
            ("channel", "entries for this channel alone"),
        ])
        .params(&PAGING)
        .pages::<SuppressionView>("A page"),
        post(
            "/api/suppressions",
            Operate,
            "Send nothing to an address any more",
            suppressions::add,
        )
        .body::<SuppressionRequest>()
        .answers::<SuppressionView>(201, "The entry")
        .answers::<SuppressionView>(200, "There was such an entry already"),
        delete(
            "/api/suppressions/{id}",
            Operate,
            "Let an address be written to again",
            suppressions::remove,
        )
        .empty("It is gone"),
    ]
}
