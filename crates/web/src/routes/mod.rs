//! Every route of the API: path, who may, what it takes and answers. This table is the router and the OpenAPI
//! document; there is no other list of routes and no other list of who may do what. Apart from it are the console's pages, and
//! the callbacks (`callbacks`), whose bodies and answers are each service's own.

mod admin;
mod bulk;
mod events;
mod figures;
mod lists;
mod notifications;
mod providers;
mod sites;
mod suppressions;
mod system;
mod templates;
mod usage;

use crate::endpoint::{Endpoint, Param};

/// Every route there is.
pub fn all() -> Vec<Endpoint> {
    [
        notifications::routes(),
        bulk::routes(),
        figures::routes(),
        lists::routes(),
        providers::routes(),
        templates::routes(),
        events::routes(),
        suppressions::routes(),
        sites::routes(),
        admin::routes(),
        usage::routes(),
        system::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

const PAGING: [Param; 2] = [
    ("limit", "rows in a page, 1 to 1000; 100 if left out"),
    ("cursor", "nextCursor of the page before"),
];
