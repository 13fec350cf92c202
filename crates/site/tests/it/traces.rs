//! The steps of a forwarded notification, as they are told of a trace.

use crate::world::{World, until};
use domain::{
    Tracer,
    trace::{Span, SpanSink},
};
use std::sync::{Arc, Mutex};

#[derive(Debug, Default)]
struct CollectedSpans(Mutex<Vec<Span>>);

impl SpanSink for CollectedSpans {
    fn take(&self, span: Span) {
        self.0.lock().unwrap().push(span);
    }
}

impl CollectedSpans {
    /// How each try to hand something over failed.
    fn forwards(&self) -> Vec<Option<String>> {
        let told = self.0.lock().unwrap();
        let forwards = told.iter().filter(|span| span.name == "forward");
        forwards.map(|span| span.failed.clone()).collect()
    }
}

fn code(code: &str) -> Option<String> {
    Some(code.to_owned())
}

#[tokio::test]
async fn each_try_to_hand_over_is_a_step_with_the_code_of_what_went_wrong() {
    let told = Arc::new(CollectedSpans::default());
    let world = World::with(|settings| settings.tracer = Tracer::to(told.clone()));
    world.central.inner.lock().unwrap().not_now = 1;
    let agent = world.start().await;
    world.notify("not now").await;
    until("two tries", || told.forwards().len() == 2).await;
    assert_eq!(told.forwards(), [code("NOT_NOW"), None]);

    world.central.inner.lock().unwrap().lose_acks = 1;
    world.notify("no answer").await;
    until("two more", || told.forwards().len() == 4).await;
    assert_eq!(told.forwards()[2..], [code("LINK"), None]);

    world.central.goes_down();
    let refused = world.notify("refused").await;
    world.central.inner.lock().unwrap().refuse.insert(refused);
    world.central.comes_back();
    until("it to be refused", || {
        told.forwards().last() == Some(&code("REFUSED"))
    })
    .await;
    agent.stop().await;
}
