//! The steps of a notification, as they are told of a trace.

use crate::world::{World, secs};
use central::Settings;
use domain::{
    Failure, Scope, Status, TraceContext, Tracer,
    trace::{Span, SpanSink},
};
use std::sync::{Arc, Mutex};
use testkit::a_notification;

const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

#[derive(Debug, Default)]
struct CollectedSpans(Mutex<Vec<Span>>);

impl SpanSink for CollectedSpans {
    fn take(&self, span: Span) {
        self.0.lock().unwrap().push(span);
    }
}

impl CollectedSpans {
    /// Name, parent and failure of each.
    fn all(&self) -> Vec<(&'static str, TraceContext, Option<TraceContext>, Option<String>)> {
        let told = self.0.lock().unwrap();
        told.iter()
            .map(|span| (span.name, span.context, span.parent, span.failed.clone()))
            .collect()
    }
}

async fn world() -> (World, Arc<CollectedSpans>) {
    let told = Arc::new(CollectedSpans::default());
    let settings = Settings {
        tracer: Tracer::to(told.clone()),
        ..Settings::named("node-1")
    };
    (World::with(settings).await, told)
}

fn from(caller: &str) -> testkit::fixtures::ANotification {
    let mut notification = a_notification();
    notification.0.trace = Some(caller.parse().unwrap());
    notification
}

/// Fails when it is told of an attempt.
#[derive(Debug)]
struct Faulty;

impl SpanSink for Faulty {
    fn take(&self, span: Span) {
        assert_ne!(span.name, "attempt", "on purpose");
    }
}

#[tokio::test]
async fn an_attempt_whose_telling_panics_is_recorded_all_the_same() {
    let settings = Settings {
        tracer: Tracer::to(Arc::new(Faulty)),
        ..Settings::named("node-1")
    };
    let mut world = World::with(settings).await;
    let id = world.send(from(CALLER)).await;
    let swept = tokio::time::timeout(secs(120), world.sweep()).await;
    assert_eq!(swept.expect("its place is free again").delivered, 1);
    assert_eq!(world.status(id).await, Status::Delivered);
}

#[tokio::test]
async fn a_retry_is_another_claim_below_the_same_submit() {
    let (mut world, told) = world().await;
    world
        .mail
        .answers(Failure::transient(Scope::Message, "SMTP_451", "try later").into());
    let id = world.send(from(CALLER)).await;
    world.sweep().await;
    world.mail.accepts();
    world.advance(secs(60));
    world.sweep().await;
    let all = told.all();
    let names: Vec<_> = all.iter().map(|(name, ..)| *name).collect();
    assert_eq!(
        names,
        [
            "submit", "claim", "attempt", "record", "claim", "attempt", "record"
        ]
    );
    let (_, submit, caller, _) = all[0];
    assert_eq!(caller, Some(CALLER.parse().unwrap()));
    assert_eq!(world.get(id).await.submission.trace, Some(submit));
    for round in [&all[1..4], &all[4..7]] {
        let mut parent = Some(submit);
        for (name, context, below, _) in round {
            assert_eq!(*below, parent, "{name}");
            assert_eq!(context.trace_id(), submit.trace_id());
            parent = Some(*context);
        }
    }
    assert_eq!(
        (all[2].3.as_deref(), all[5].3.as_deref()),
        (Some("SMTP_451"), None)
    );
    let received = world.mail.received();
    assert_eq!(
        received[1].trace,
        Some(all[5].1),
        "the adapter gets the attempt's step"
    );
}

#[tokio::test]
async fn nothing_is_told_or_kept_of_a_trace_that_its_beginner_does_not_keep() {
    let (mut world, told) = world().await;
    let id = world.send(from(&CALLER.replace("-01", "-00"))).await;
    world.sweep().await;
    assert!(told.all().is_empty());
    assert_eq!(world.get(id).await.submission.trace, None);
}

#[tokio::test]
async fn while_traces_are_off_nothing_is_kept_of_them() {
    let mut world = World::new().await;
    let id = world.send(from(CALLER)).await;
    world.sweep().await;
    let submission = world.get(id).await.submission;
    assert_eq!(submission.trace, None);
    assert_eq!(world.mail.received()[0].trace, None);
}
