//! A real SMTP server that answers every code at every phase, and what becomes of the notification: its status,
//! each recipient, the next attempt, the audit.

use central::{Central, Settings, providers::ProviderDraft, secrets::Sealer};
use delivery::{Captured, Outside, Registry};
use domain::{
    Actor, AuditStatus, Clock, HoldReason, ManualClock, NotificationId, OnAmbiguous, ProviderId, Recipient,
    RecipientState, Status, TenantId,
};
use serde_json::{Value, json};
use simulator::{
    SmtpOptions, SmtpServer,
    smtp::{Credential, Mechanism, Phase, SmtpRule},
};
use std::{sync::Arc, time::Duration};
use store::{directory::List, query::Notification};
use testkit::{TempStore, a_notification};

const TENANT: TenantId = TenantId::DEFAULT;
/// Longer than this process ever stands still: an attempt is given up only where a test wants it to be.
const TIMEOUT: &str = "60s";

/// The provider that sends through the server.
fn draft(server: &SmtpServer, timeout: &str) -> ProviderDraft {
    let settings = json!({
        "host": "127.0.0.1", "port": server.address().port(), "tls": "none", "from": "waypost@plant.example",
        "auth": "plain", "username": "waypost", "password": "secret", "timeout": timeout,
    });
    ProviderDraft {
        id: Some("mail".into()),
        kind: "smtp".into(),
        settings: settings.as_object().cloned().unwrap(),
        ..ProviderDraft::default()
    }
}

struct World {
    temp: TempStore,
    central: Central,
    server: SmtpServer,
}

impl World {
    async fn new(change: impl FnOnce(&mut ProviderDraft)) -> Self {
        let temp = TempStore::open();
        let options = SmtpOptions {
            auth: Mechanism::ALL.to_vec(),
            ..SmtpOptions::default()
        };
        let server = SmtpServer::start(options).await.unwrap();
        server.accept_credentials(vec![Credential::new("waypost", "secret")]);
        let clock: Arc<dyn Clock> = temp.clock.clone();
        let outside = Outside::new(clock.clone()).allowing(vec!["127.0.0.0/8".parse().unwrap()]);
        let registry = Registry::standard(Arc::new(outside), Captured::default());
        let central = Central::new(
            temp.store.clone(),
            registry,
            Sealer::ephemeral(),
            clock,
            Settings::named("one"),
        );
        let mut draft = draft(&server, TIMEOUT);
        change(&mut draft);
        central
            .providers
            .create(TENANT, draft, &Actor::system())
            .await
            .unwrap();
        let recipients = ["a@x.example", "b@x.example", "c@x.example"].map(|address| Recipient {
            name: None,
            address: address.into(),
            channel: None,
            enabled: true,
        });
        let list = List {
            name: "ops".into(),
            recipients: recipients.to_vec(),
        };
        central.lists.put(TENANT, &list, &Actor::system()).await.unwrap();
        Self {
            temp,
            central,
            server,
        }
    }

    /// From here on attempts may take as long as they like.
    async fn is_patient(&self) {
        let id = ProviderId::new("mail");
        let current = self.central.store.provider(TENANT, &id).await.unwrap().unwrap();
        let (patient, system) = (draft(&self.server, TIMEOUT), Actor::system());
        let replaced = self.central.providers.replace(&current, patient, &system);
        replaced.await.unwrap();
    }

    /// One notification to all three, one sweep.
    async fn attempt(&self) -> (NotificationId, Notification) {
        let submission = a_notification().to_list("ops").0;
        let id = submission.id;
        self.central.ingest.submit(vec![submission]).await.unwrap();
        self.central.dispatcher().sweep().await.unwrap();
        (id, self.get(id).await)
    }

    async fn get(&self, id: NotificationId) -> Notification {
        self.central.store.get(TENANT, id).await.unwrap().unwrap()
    }

    /// The codes of the attempts on record, and whether the end is.
    async fn audit(&self, id: NotificationId) -> (Vec<Option<String>>, Vec<AuditStatus>) {
        let rows = self.central.store.attempts(TENANT, id).await.unwrap().unwrap();
        let attempted = rows
            .iter()
            .filter(|r| r.status == AuditStatus::Attempted)
            .map(|r| r.provider_code.clone())
            .collect();
        let ends = rows
            .iter()
            .map(|r| r.status)
            .filter(|s| !matches!(s, AuditStatus::Submitted | AuditStatus::Attempted));
        (attempted, ends.collect())
    }
}

/// What one refusal comes to.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// Nobody has it; all are tried again after so many seconds.
    Retry(u64),
    /// The others have it; the one refused is tried again after so many seconds.
    RetryOne(u64),
    /// Nobody has it; the lane is held, the attempt is not counted.
    Hold(HoldReason),
    /// The others have it; the lane is held for the one refused.
    HoldOne(HoldReason),
    /// Nobody has it and nobody will, under the reply's own code.
    Park,
    /// The others have it, the one refused never will.
    Partial,
}

const REPLIES: [&str; 8] = [
    "421 4.3.2 closing",
    "450 4.2.1 receiving too fast",
    "451 4.3.0 later",
    "452 4.3.1 out of storage",
    "535 5.7.8 bad credentials",
    "550 5.1.1 no such user",
    "552 5.3.4 too big",
    "554 5.6.0 not like this",
];

/// By phase, in the order of [`REPLIES`]. At RCPT only the second of three recipients is refused.
fn table() -> [(Phase, [Then; 8]); 7] {
    use HoldReason::{Auth, Down};
    use Then::{Hold, HoldOne, Park, Partial, Retry, RetryOne};
    let later = Retry(60);
    let unwelcome = [
        later,
        later,
        later,
        later,
        Hold(Auth),
        Hold(Down),
        Hold(Down),
        Hold(Down),
    ];
    [
        (Phase::Connect, unwelcome),
        (Phase::Ehlo, unwelcome),
        (
            Phase::Auth,
            [
                later,
                later,
                later,
                later,
                Hold(Auth),
                Hold(Auth),
                Hold(Auth),
                Hold(Auth),
            ],
        ),
        (
            Phase::Mail,
            [
                later,
                later,
                later,
                later,
                Hold(Auth),
                Hold(Auth),
                Park,
                Hold(Auth),
            ],
        ),
        // A 421 ends the connection, and with it the others' acceptance.
        (
            Phase::Rcpt,
            [
                later,
                RetryOne(300),
                RetryOne(60),
                RetryOne(60),
                HoldOne(Auth),
                Partial,
                Partial,
                Partial,
            ],
        ),
        (
            Phase::Data,
            [later, later, later, later, Hold(Auth), Park, Park, Park],
        ),
        (
            Phase::AfterDot,
            [later, later, later, later, Hold(Auth), Park, Park, Park],
        ),
    ]
}

/// The server's own code.
fn code_of(reply: &str) -> String {
    let mut words = reply.split(' ');
    let (code, enhanced) = (words.next().unwrap(), words.next().unwrap());
    format!("SMTP_{code}_{enhanced}")
}

#[tokio::test]
async fn every_code_at_every_phase_leads_where_it_should() {
    let mut wrong = vec![];
    for (phase, row) in table() {
        for (reply, then) in REPLIES.into_iter().zip(row) {
            let world = World::new(|_| {}).await;
            let rule = SmtpRule::at(phase).reply(reply);
            world.server.on(if phase == Phase::Rcpt {
                rule.to("b@x.example")
            } else {
                rule
            });
            let (id, row) = world.attempt().await;
            let (attempted, ends) = world.audit(id).await;
            let expected = expect(then, reply);
            let found = observe(&row, &attempted, &ends, &world.temp.clock);
            if found != expected {
                wrong.push(format!(
                    "{phase:?} {reply}\n  expected {expected}\n  found    {found}"
                ));
            }
            assert_eq!(world.central.store.misplaced().await.unwrap(), 0);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of 56 differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn expect(then: Then, reply: &str) -> Value {
    use RecipientState::{Accepted, Failed, Open};
    let own = code_of(reply);
    let (status, counted, states, again, hold, code) = match then {
        Then::Retry(s) => (
            Status::Retrying,
            1,
            [Open, Open, Open],
            Some(s),
            None,
            own.clone(),
        ),
        Then::RetryOne(s) => (
            Status::Retrying,
            1,
            [Accepted, Open, Accepted],
            Some(s),
            None,
            own.clone(),
        ),
        Then::Hold(why) => (
            Status::Pending,
            0,
            [Open, Open, Open],
            Some(0),
            Some(why),
            own.clone(),
        ),
        Then::HoldOne(why) => (
            Status::Pending,
            0,
            [Accepted, Open, Accepted],
            Some(0),
            Some(why),
            own.clone(),
        ),
        Then::Park => (
            Status::Parked,
            1,
            [Failed, Failed, Failed],
            None,
            None,
            own.clone(),
        ),
        Then::Partial => (
            Status::Parked,
            1,
            [Accepted, Failed, Accepted],
            None,
            None,
            own.clone(),
        ),
    };
    let ends = if status == Status::Parked {
        vec!["Parked"]
    } else {
        vec![]
    };
    json!({
        "status": status, "attempts": counted, "recipients": states, "againAfter": again, "hold": hold,
        "code": code, "attempted": [own], "ends": ends,
    })
}

fn observe(
    row: &Notification,
    attempted: &[Option<String>],
    ends: &[AuditStatus],
    clock: &ManualClock,
) -> Value {
    let mut recipients = row.recipients.clone();
    recipients.sort_by(|a, b| a.address.cmp(&b.address));
    let states: Vec<_> = recipients.iter().map(|r| r.state).collect();
    json!({
        "status": row.status, "attempts": row.retry_count, "recipients": states,
        "againAfter": row.next_attempt_at.map(|at| at.since(clock.now()).as_secs()),
        "hold": row.held.as_ref().map(|h| h.reason), "code": row.last_provider_code,
        "attempted": attempted, "ends": ends,
    })
}

#[tokio::test]
async fn a_stalled_server_and_a_connection_cut_in_the_middle_are_tried_again() {
    for (rule, timeout) in [
        (SmtpRule::at(Phase::Connect).stall(), "1s"),
        (SmtpRule::at(Phase::Mail).stall(), "1s"),
        (SmtpRule::at(Phase::AfterDot).stall(), "1s"),
        (SmtpRule::at(Phase::Ehlo).cut(), TIMEOUT),
        (SmtpRule::at(Phase::Rcpt).cut(), TIMEOUT),
        (SmtpRule::at(Phase::Body).cut(), TIMEOUT),
        (SmtpRule::at(Phase::AfterDot).cut(), TIMEOUT),
    ] {
        let shorter = |draft: &mut ProviderDraft| draft.settings["timeout"] = timeout.into();
        let world = World::new(shorter).await;
        world.server.on(rule);
        let (id, row) = world.attempt().await;
        assert_eq!((row.status, row.retry_count), (Status::Retrying, 1), "{row:?}");
        assert!(
            ["TIMEOUT", "NETWORK"].contains(&row.last_code.as_deref().unwrap()),
            "{row:?}"
        );
        assert_eq!(
            row.next_attempt_at,
            Some(world.temp.clock.now() + Duration::from_secs(60))
        );
        world.server.behave();
        world.is_patient().await;
        world.temp.clock.advance(Duration::from_secs(60));
        world.central.dispatcher().sweep().await.unwrap();
        let row = world.get(id).await;
        assert_eq!(
            (row.status, row.retry_count, row.resolved_targets.len()),
            (Status::Delivered, 2, 3)
        );
        let mails = world.server.mails();
        let last = mails.last().unwrap();
        assert_eq!(last.id(), Some(id.to_string().as_str()));
        assert!(
            last.header("Message-ID").unwrap().contains(&id.to_string()),
            "the same identity over attempts"
        );
    }
}

#[tokio::test]
async fn silence_after_the_final_dot_is_parked_where_a_duplicate_costs_money() {
    let world = World::new(|draft| draft.on_ambiguous = Some(OnAmbiguous::Park)).await;
    world.server.on(SmtpRule::at(Phase::AfterDot).cut());
    let (_, row) = world.attempt().await;
    assert_eq!(
        (row.status, row.last_code.as_deref()),
        (Status::Parked, Some("AMBIGUOUS"))
    );
    assert_eq!(world.server.counts().mails, 1, "the server had taken it");
}

#[tokio::test]
async fn the_password_is_nowhere_in_what_is_kept() {
    let world = World::new(|_| {}).await;
    // "\0waypost\0secret", as AUTH PLAIN says it.
    world
        .server
        .on(SmtpRule::at(Phase::Auth).reply("535 5.7.8 bad secret AHdheXBvc3QAc2VjcmV0 for waypost"));
    let (id, row) = world.attempt().await;
    let kept = format!(
        "{row:?} {:?}",
        world.central.store.attempts(TENANT, id).await.unwrap()
    );
    assert!(!kept.contains("AHdheXBvc3QAc2VjcmV0"), "{kept}");
    assert!(!kept.contains("bad secret"), "{kept}");
}
