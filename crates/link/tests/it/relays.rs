//! What central asks of a site.

use crate::world::{World, a_parked_message, a_waiting_message, down};
use domain::site::{Category, WaitingStatus};
use link::{
    BulkDone, BulkStep, ParkedActed, ParkedAction, ParkedCount, ParkedFilter, ParkedPage, WaitingActed,
    WaitingPage, server::RelayFailed,
};

fn a_page() -> ParkedPage {
    ParkedPage {
        filter: ParkedFilter {
            category: Some(Category::ExternalSystem),
            target: Some("erp".into()),
            ..ParkedFilter::default()
        },
        limit: 10,
        after: None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_of_parked_messages_comes_back_to_the_last_field() {
    let world = World::new();
    world.connected().await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    let answer = remote.parked(a_page()).await.unwrap();
    assert_eq!((answer.messages, answer.total), (vec![a_parked_message()], 1));
}

#[tokio::test(start_paused = true)]
async fn an_action_reaches_the_site_with_who_asked() {
    let world = World::new();
    world.connected().await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    assert_eq!(remote.retry("p1", "user:anna").await, Ok(ParkedActed::Done));
    assert_eq!(remote.retry("p2", "user:anna").await, Ok(ParkedActed::NotFound));
    assert_eq!(remote.discard("p1", "key:ops").await, Ok(ParkedActed::WrongState));
    let asked = world.site.asked.lock().unwrap();
    assert_eq!(
        *asked,
        [
            "retry p1 by user:anna",
            "retry p2 by user:anna",
            "discard p1 by key:ops"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_site_cannot_do_is_told_in_its_words() {
    let world = World::new();
    world.connected().await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    let page = ParkedPage {
        after: Some("?".into()),
        ..a_page()
    };
    let failed = remote.parked(page).await.unwrap_err();
    assert_eq!(failed, RelayFailed::Failed("that cursor is not mine".into()));
}

#[tokio::test(start_paused = true)]
async fn a_question_to_a_site_that_went_away_or_is_silent_never_hangs() {
    let world = World::new();
    let link = world.connected().await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    world.network.mute_central();
    assert_eq!(remote.parked(a_page()).await, Err(RelayFailed::TooSlow));
    world.network.cut();
    down(&link).await;
    let gone = remote.parked(a_page()).await.unwrap_err();
    assert!(
        matches!(gone, RelayFailed::Gone(_) | RelayFailed::TooSlow),
        "{gone}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_site_reports_by_itself_and_when_asked() {
    let world = World::new();
    world.connected().await;
    let mut reports = world.central.reports.subscribe();
    let report = reports.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    assert_eq!((report.backlog[&Category::Notification], report.parked), (7, 1));
    reports.mark_unchanged();
    reports.changed().await.unwrap();
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    assert_eq!(remote.report().await.unwrap(), report);
}

#[tokio::test(start_paused = true)]
async fn a_bulk_step_reaches_the_site_with_every_field_and_comes_back_with_where_to_go_on() {
    let world = World::new();
    world.connected().await;
    *world.site.many.lock().unwrap() = 7;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    let filter = ParkedFilter {
        error_code: Some("HTTP_503".into()),
        instance: Some("line-1".into()),
        from: Some(domain::Timestamp::from_millis(1)),
        to: Some(domain::Timestamp::from_millis(2)),
        removed: true,
        until: Some(7),
        ..a_page().filter
    };
    let counted = remote.count_parked(filter.clone()).await;
    assert_eq!(counted, Ok(ParkedCount { total: 7, until: 7 }));
    let step = BulkStep {
        job: "j1".into(),
        action: ParkedAction::Discard,
        filter,
        after: None,
        limit: 5,
        by: "user:anna".into(),
    };
    let first = BulkDone {
        done: 5,
        next: Some("2 left".into()),
    };
    assert_eq!(remote.act_on_many(step.clone()).await, Ok(first.clone()));
    assert_eq!(
        remote.act_on_many(step.clone()).await,
        Ok(first),
        "the same step again"
    );
    let steps = world.site.steps.lock().unwrap();
    assert_eq!(steps.len(), 1);
    let asked = world.site.last_step.lock().unwrap().clone();
    assert_eq!(asked, Some(step), "to the last field");
}

#[tokio::test(start_paused = true)]
async fn a_page_of_waiting_messages_comes_back_to_the_last_field() {
    let world = World::new();
    world.connected().await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    let page = WaitingPage {
        category: Some(Category::ExternalSystem),
        limit: 10,
        after: None,
    };
    let answer = remote.waiting(page.clone()).await.unwrap();
    assert_eq!((answer.messages, answer.total), (vec![a_waiting_message()], 1));
    let astray = WaitingPage {
        after: Some("?".into()),
        ..page
    };
    let failed = remote.waiting(astray).await.unwrap_err();
    assert_eq!(failed, RelayFailed::Failed("that cursor is not mine".into()));
}

#[tokio::test(start_paused = true)]
async fn what_became_of_a_waiting_message_comes_back_with_why() {
    let world = World::new();
    world.connected().await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    let retrying = WaitingActed::Done {
        status: WaitingStatus::Retrying,
        error: Some("HTTP_503: busy".into()),
    };
    assert_eq!(remote.try_waiting("w1", "user:anna").await, Ok(retrying));
    let unknown = remote.try_waiting("p1", "user:anna").await;
    assert_eq!(unknown, Ok(WaitingActed::NotFound));
    let refused = WaitingActed::WrongState("it is being tried right now".into());
    assert_eq!(remote.discard_waiting("w1", "key:ops").await, Ok(refused));
    let asked = world.site.asked.lock().unwrap();
    assert_eq!(
        *asked,
        [
            "try waiting w1 by user:anna",
            "try waiting p1 by user:anna",
            "discard waiting w1 by key:ops"
        ],
        "no parked message was acted on"
    );
}

#[tokio::test(start_paused = true)]
async fn tries_that_hang_keep_no_other_question_waiting() {
    let world = World::new();
    world.connected().await;
    let remote = world.central.site.lock().unwrap().clone().unwrap();
    let hanging = (0..20).map(|_| remote.try_waiting("hanging", "user:anna"));
    let tries = futures_util::future::join_all(hanging);
    let others = async {
        let tried = || world.site.asked.lock().unwrap().len();
        testkit::until("tries hang", async || tried() == 8).await;
        let page = remote.parked(a_page()).await;
        (page.map(|page| page.total), remote.retry("p1", "user:anna").await)
    };
    let (tries, others) = tokio::join!(tries, others);
    assert_eq!(others, (Ok(1), Ok(ParkedActed::Done)));
    let hung = tries.iter().filter(|tried| **tried == Err(RelayFailed::TooSlow));
    assert_eq!(hung.count(), 8, "more are told to come back: {tries:?}");
}
