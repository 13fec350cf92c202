//! A week of traffic before the node starts, so that charts and pages have something to show. Time is moved, not
//! waited for.

use central::{Central, Settings, figures, secrets::Sealer};
use delivery::Registry;
use domain::{
    Actor, Channel, Clock, Failure, Limits, ManualClock, OnAmbiguous, Outcome, ProviderId, Recipient,
    RetryPolicy, Scope, Submission, SystemClock, TenantId,
};
use serde_json::Map;
use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};
use store::{
    Store,
    directory::{List, NewProvider},
    sqlite::SqliteStore,
};
use testkit::{FarEnd, Reply, a_notification};

const MINUTE: Duration = Duration::from_secs(60);
/// How long between looks, and how often: six days by the hour, a day by ten minutes, an hour by the minute.
const STEPS: [(Duration, u32); 3] = [
    (Duration::from_secs(3600), 144),
    (Duration::from_secs(600), 138),
    (MINUTE, 60),
];

/// Looks after that, a minute apart, for what was put off.
const PUT_OFF: u32 = 5;

const SUBJECTS: [&str; 7] = [
    "Tank 4 is full",
    "Pump 2 restarted",
    "Shift report",
    "Gate 3 is open",
    "Line 1 stopped",
    "Boiler pressure is back to normal",
    "Recipe changed",
];

/// Leaves behind the providers `mail` and `hook`, whose settings are not real, and the list `ops`.
pub async fn live_through_a_week(file: &Path) {
    let length: Duration = STEPS.iter().map(|(step, times)| *step * *times).sum();
    let length = length + MINUTE * PUT_OFF;
    let clock = Arc::new(ManualClock::at(SystemClock.now() - length));
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(file, clock.clone()).unwrap());
    let (mail, hook) = (
        FarEnd::new("smtp", Channel::Email),
        FarEnd::new("webhook", Channel::Webhook),
    );
    mail.script(failing_now_and_then(
        "SMTP_451",
        "greylisted, come back later",
        11,
    ));
    hook.script(failing_now_and_then("HTTP_503", "the receiver is restarting", 7));
    let registry = Registry::new(vec![mail.kind(), hook.kind()]).unwrap();
    let settings = Settings::named("last week");
    let kpi = settings.kpi;
    let central = Central::new(
        store.clone(),
        registry,
        Sealer::ephemeral(),
        clock.clone(),
        settings,
    );
    set_up(&store, &central).await;
    let mut dispatcher = central.dispatcher();
    let mut sent = 0;
    for (length, times) in STEPS {
        for step in 0..times {
            // More by day than by night, and never the same twice.
            let many = match length {
                MINUTE => step % 3,
                _ => 2 + (step * 7 + step / 5) % 6 + if step % 24 > 7 { 5 } else { 0 },
            };
            let batch = (0..many).map(|_| {
                sent += 1;
                incoming(sent)
            });
            central.ingest.submit(batch.collect()).await.unwrap();
            dispatcher.sweep().await.unwrap();
            figures::sweep(&*store, kpi).await.unwrap();
            clock.advance(length);
        }
    }
    // What was put off comes to its end too.
    for _ in 0..PUT_OFF {
        dispatcher.sweep().await.unwrap();
        clock.advance(MINUTE);
    }
    store.close().await;
}

async fn set_up(store: &Arc<dyn Store>, central: &Central) {
    for (id, kind, channel) in [
        ("mail", "smtp", Channel::Email),
        ("hook", "webhook", Channel::Webhook),
    ] {
        let provider = NewProvider {
            tenant: TenantId::DEFAULT,
            id: ProviderId::new(id),
            name: id.into(),
            kind: kind.into(),
            channel,
            enabled: true,
            order: 0,
            settings: Map::new(),
            secrets: BTreeMap::new(),
            retry: RetryPolicy::exponential(),
            limits: Limits::default(),
            on_ambiguous: OnAmbiguous::Resend,
        };
        store
            .put_provider(&provider, None, &Actor::system())
            .await
            .unwrap();
    }
    let recipients = ["ann@plant.example", "bob@plant.example"].map(|address| Recipient {
        name: None,
        address: address.into(),
        channel: None,
        enabled: true,
    });
    let list = List {
        name: "ops".into(),
        recipients: recipients.to_vec(),
    };
    central
        .lists
        .put(TenantId::DEFAULT, &list, &Actor::system())
        .await
        .unwrap();
}

fn incoming(number: usize) -> Submission {
    let subject = SUBJECTS[number % SUBJECTS.len()];
    let site = ["plant-north", "plant-south"][number % 2];
    let notification = a_notification().subject(subject).site(site);
    let notification = match number % 3 {
        0 => notification.by(Channel::Webhook).through("hook"),
        _ => notification.to_list("ops"),
    };
    notification.0
}

fn failing_now_and_then(
    code: &'static str,
    words: &'static str,
    every: usize,
) -> impl FnMut(&delivery::Message, &delivery::kind::Settings) -> Reply {
    let mut asked = 0;
    move |_, _| {
        asked += 1;
        match asked {
            n if n % 97 == 0 => Reply::Now(Outcome::Failed(Failure::permanent(
                Scope::Message,
                "REFUSED",
                "the far end does not want it",
            ))),
            n if n % every == 0 => {
                Reply::Now(Outcome::Failed(Failure::transient(Scope::Message, code, words)))
            }
            _ => Reply::accepted(),
        }
    }
}
