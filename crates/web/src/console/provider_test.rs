//! Trying a provider out: one real attempt, and a page with what came of it.
//!
//! Always true: the form answers with a redirect, so that reloading or coming back sends nothing again.

use super::{
    failure::{Result, Trouble},
    flash::{Flash, redirect},
    form::Form,
    frame::{Frame, Framed, Nav, framed},
    guard::Signed,
    provider::{find, place},
    show::took,
};
use crate::{
    api::{PathText, PathTexts, lists::encode},
    dto::provider::TestAnswer,
    problem::Problem,
    state::Shared,
};
use askama::Template;
use axum::extract::State;
use central::providers::{TestDraft, TestError};
use domain::{ProviderId, TenantId, Timestamp, lock::lock, submission::limit};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};
use uuid::Uuid;

/// The tests that a node remembers; with their transcripts about 3 MB at most.
const MAX_TESTS: usize = 100;

/// What came of the latest tests, newest last.
#[derive(Debug, Default)]
pub struct TestResults(Mutex<VecDeque<Arc<Tested>>>);

/// One test, and what came of it.
#[derive(Debug)]
struct Tested {
    id: Uuid,
    tenant: TenantId,
    provider: ProviderId,
    at: Timestamp,
    to: Option<String>,
    by: String,
    answer: TestAnswer,
}

impl TestResults {
    fn keep(&self, tested: Tested) {
        let mut kept = lock(&self.0);
        if kept.len() >= MAX_TESTS {
            kept.pop_front();
        }
        kept.push_back(Arc::new(tested));
    }

    fn find(&self, tenant: TenantId, provider: &ProviderId, id: Uuid) -> Option<Arc<Tested>> {
        let kept = lock(&self.0);
        let ours = |one: &&Arc<Tested>| one.id == id && one.tenant == tenant && one.provider == *provider;
        kept.iter().find(ours).cloned()
    }
}

#[derive(Template)]
#[template(path = "provider/test.html")]
struct Page {
    frame: Frame,
    id: String,
    name: String,
    tested: Option<Arc<Tested>>,
    needs_recipient: bool,
    /// Whom the next test would go to.
    to: String,
}
framed!(Page);

pub async fn test(State(state): State<Shared>, signed: Signed, PathText(id): PathText, form: Form) -> Result {
    let (to, data) = (form.text("to"), form.text("data"));
    if let Some(why) = why_not(to.as_deref(), data.as_deref()) {
        let why = format!("Nothing was sent: {why}.");
        return Ok(Flash::bad(why).at(&place(&id), &state.console));
    }
    let provider = ProviderId::new(id.as_str());
    let (tenant, actor) = (signed.caller.tenant, &signed.caller.actor);
    let at = state.central.clock.now();
    let draft = TestDraft { to: to.clone(), data };
    let report = state
        .central
        .providers
        .test(tenant, &provider, draft, actor)
        .await;
    let report = match report {
        Ok(report) => report,
        Err(TestError::NotFound) => return Err(Trouble(Problem::not_found("provider"))),
        Err(TestError::NotUsable(why)) => return Ok(Flash::bad(why).at(&place(&id), &state.console)),
        Err(full @ TestError::TooMany) => {
            let why = format!("Nothing was sent: {full}.");
            return Ok(Flash::bad(why).at(&place(&id), &state.console));
        }
        Err(TestError::Store(error)) => return Err(error.into()),
    };
    let tested = Tested {
        id: Uuid::now_v7(),
        tenant,
        provider,
        at,
        to,
        by: actor.to_string(),
        answer: report.into(),
    };
    let address = format!("{}/tests/{}", place(&id), tested.id);
    state.tests.keep(tested);
    Ok(redirect(&address))
}

/// What keeps a test from being the one that was asked for.
fn why_not(to: Option<&str>, data: Option<&str>) -> Option<String> {
    if to.is_some_and(|to| to.chars().count() > limit::ADDRESS || to.contains('\0')) {
        return Some(format!(
            "an address has at most {} characters, and no NUL",
            limit::ADDRESS
        ));
    }
    let data = data?;
    if data.len() > limit::TYPE_DATA {
        return Some(format!("the data has more than {} bytes", limit::TYPE_DATA));
    }
    (!is_object(data)).then(|| "the data must be a JSON object, like {\"priority\": 1}".to_owned())
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}

pub async fn page(State(state): State<Shared>, signed: Signed, PathTexts(id, test): PathTexts) -> Result {
    let provider = find(&state, &signed, &id).await?.provider;
    let test = test.parse().ok();
    let tested = test.and_then(|test| state.tests.find(signed.caller.tenant, &provider.id, test));
    let title = format!("Test of {}", provider.name);
    let page = Page {
        frame: Frame::new(&state, &signed, title, Nav::Providers).await?,
        to: tested.as_ref().and_then(|one| one.to.clone()).unwrap_or_default(),
        tested,
        needs_recipient: provider.channel.needs_recipients(),
        name: provider.name,
        id,
    };
    Ok(page.show(&state))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tested(tenant: TenantId) -> Tested {
        Tested {
            id: Uuid::now_v7(),
            tenant,
            provider: ProviderId::new("mail"),
            at: Timestamp::EPOCH,
            to: None,
            by: "user:ann".into(),
            answer: TestAnswer::default(),
        }
    }

    #[test]
    fn a_test_is_found_by_its_own_tenant_and_provider_while_it_is_among_the_latest() {
        let results = TestResults::default();
        let first = tested(TenantId::DEFAULT);
        let (id, mail) = (first.id, ProviderId::new("mail"));
        results.keep(first);
        assert!(results.find(TenantId::DEFAULT, &mail, id).is_some());
        assert!(results.find(TenantId(99), &mail, id).is_none());
        assert!(
            results
                .find(TenantId::DEFAULT, &ProviderId::new("hook"), id)
                .is_none()
        );
        for _ in 0..MAX_TESTS {
            results.keep(tested(TenantId::DEFAULT));
        }
        assert!(results.find(TenantId::DEFAULT, &mail, id).is_none());
        assert_eq!(lock(&results.0).len(), MAX_TESTS);
    }
}
