//! What hangs on something that is about to be removed.

use super::guard::Signed;
use crate::state::Shared;
use domain::{Status, TextFilters, Timestamp};
use store::query::{Filter, Page};

/// What would miss it if it were gone.
#[derive(Debug, Default)]
pub struct Usage {
    pub waiting: u64,
    pub parked: u64,
    /// When something was last sent to it, as far as the newest rows tell.
    pub last: Option<Timestamp>,
}

/// Rows counted of each; more is "more than".
const USAGE_BOUND: u32 = 1000;

impl Usage {
    /// Of what a filter of the list asks for: a list, a provider.
    pub async fn of(state: &Shared, signed: &Signed, by: TextFilters) -> store::Result<Self> {
        let store = &state.central.store;
        let ask = async |status: Vec<Status>, limit| {
            let filter = Filter {
                status,
                by: by.clone(),
                ..Filter::default()
            };
            let page = Page { limit, after: None };
            store.list(signed.caller.tenant, &filter, page).await
        };
        let waiting = ask(vec![Status::Pending, Status::Retrying], USAGE_BOUND).await?;
        let parked = ask(vec![Status::Parked], USAGE_BOUND).await?;
        let newest = ask(vec![], 1).await?;
        Ok(Self {
            waiting: waiting.rows.len() as u64,
            parked: parked.rows.len() as u64,
            last: newest.rows.first().map(|row| row.created_at),
        })
    }
}
