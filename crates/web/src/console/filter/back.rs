//! The way back to the list that a page was opened from.

use super::ListQuery;
use crate::query::Params;
use domain::Zone;

/// The view of the list that a page was opened from, so that its way back leads there.
#[derive(Debug, Default, PartialEq)]
pub struct Back(ListQuery);

impl Back {
    /// What no list could have said is no way back; the page itself is none the worse for it.
    pub fn read(params: &mut Params) -> Self {
        let query = params.text("back").unwrap_or_default();
        let asked = format!("/?{query}").parse().ok().and_then(|uri| {
            let mut params = Params::read(&uri).ok()?;
            let asked = ListQuery::read(&mut params, &Zone::default());
            params.finish().ok().map(|()| asked)
        });
        Self(asked.unwrap_or_default())
    }

    /// The address of the list.
    pub fn list(&self) -> String {
        match self.0.query() {
            query if query.is_empty() => "/notifications".into(),
            query => format!("/notifications?{query}"),
        }
    }

    /// What an address carries to keep it.
    pub fn suffix(&self) -> String {
        back_suffix(&self.0.query())
    }
}

/// The end of an address that leads away from a view of the list.
pub fn back_suffix(query: &str) -> String {
    match query {
        "" => String::new(),
        query => format!("?back={}", crate::api::lists::encode(query)),
    }
}
