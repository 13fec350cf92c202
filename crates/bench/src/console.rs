//! Every page of the console on a real socket, with a short history and with a long one, asked in turns.

use super::{
    context::Bench,
    database::Location,
    growth,
    http::Bare,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::Latencies;
use anyhow::Context;
use central::{figures, users::UserDraft};
use domain::{Actor, Channel, NotificationId, ProviderId, TenantId};
use std::{net::TcpListener, time::Instant};
use store::{
    directory::{List, Role},
    query::{Filter, Page},
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use web::{WebState, console::SESSION_COOKIE};

const SHORT: u64 = 10_000;
const LONG: u64 = 1_000_000;
/// Rows that wait in a held lane, and rows that are parked, in both.
const WAITING: u64 = 200;
const PARKED: u64 = 200;
/// Of each page, before and while the clock runs.
const WARM_UP: usize = 5;
const TIMES: usize = 100;

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let (short, long) = (bench.fresh().await?, bench.fresh().await?);
    let small = Served::start(&short, SHORT).await?;
    let large = Served::start(&long, LONG).await?;
    let mut readings = vec![];
    for place in 0..small.pages.len() {
        let (name, in_small, in_large) = (small.pages[place].0, &small.pages[place].1, &large.pages[place].1);
        bench.say(format!("page {name}"));
        let (mut first, mut second) = (Latencies::default(), Latencies::default());
        for turn in 0..WARM_UP + TIMES {
            let taken = (small.took(in_small).await?, large.took(in_large).await?);
            if turn >= WARM_UP {
                first.0.push(taken.0);
                second.0.push(taken.1);
            }
        }
        readings.push(
            Reading::millis(
                format!("console p95, {name}, {LONG} rows"),
                second.percentile(0.95),
            )
            .beside(format!("{SHORT} rows"), first.percentile(0.95))
            .aiming(Target::Times(1.5)),
        );
    }
    small.stop().await?;
    large.stop().await?;
    bench.database.remove(short).await?;
    bench.database.remove(long).await?;
    Ok(readings)
}

/// A node with its console, and somebody who is signed in.
struct Served {
    rig: Rig,
    client: Bare,
    pages: Vec<(&'static str, String)>,
    stop: CancellationToken,
    server: JoinHandle<std::io::Result<()>>,
}

impl Served {
    async fn start(location: &Location, history: u64) -> anyhow::Result<Self> {
        growth::keep(location, history).await?;
        let mut rig = Rig::on(location).await?;
        furnish(&rig).await?;
        location.settle().await?;
        rig.start();
        let pages = pages(&rig).await?;
        let token = signed_in(&rig).await?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let stop = CancellationToken::new();
        let router = web::router(WebState::new(rig.central.clone()).with_stop(stop.clone()));
        let server = tokio::spawn(web::serve(listener, None, router, stop.clone()));
        let client = Bare::new(&url)
            .with_header("accept", "text/html".into())
            .with_header("cookie", format!("{SESSION_COOKIE}={token}"));
        Ok(Self {
            rig,
            client,
            pages,
            stop,
            server,
        })
    }

    async fn took(&self, path: &str) -> anyhow::Result<std::time::Duration> {
        let start = Instant::now();
        self.client.get(path).await.with_context(|| path.to_owned())?;
        Ok(start.elapsed())
    }

    async fn stop(self) -> anyhow::Result<()> {
        drop(self.client);
        self.stop.cancel();
        self.server.await??;
        self.rig.close().await;
        Ok(())
    }
}

/// What waits, what is parked, a list; and the figures of the history condensed, as the loop would have done long ago.
async fn furnish(rig: &Rig) -> anyhow::Result<()> {
    let (central, actor) = (&rig.central, Actor::system());
    rig.provider("held", "noop", serde_json::Value::Null, 4).await?;
    let held = ProviderId::new("held");
    central
        .providers
        .hold(TenantId::DEFAULT, &held, None, &actor)
        .await?;
    Load::new("held", Channel::Email)
        .fill(central, WAITING, |_| {})
        .await?;
    let unserved = Load::new("held", Channel::Email).messages(PARKED).into_iter();
    let unserved = unserved.map(|mut submission| {
        submission.content.channel = Some(Channel::Sms);
        submission.content.provider = None;
        submission
    });
    central.ingest.submit(unserved.collect()).await?;
    rig.dispatcher().sweep().await?;
    let list = List {
        name: "ops".into(),
        recipients: vec![],
    };
    central.lists.put(TenantId::DEFAULT, &list, &actor).await?;
    figures::sweep(&*central.store, central.settings.kpi).await?;
    Ok(())
}

async fn signed_in(rig: &Rig) -> anyhow::Result<String> {
    let draft = UserDraft {
        name: "bench".into(),
        password: None,
        tenant: TenantId::DEFAULT,
        role: Role::Admin,
    };
    let users = &rig.central.users;
    let user = users.create(draft, &Actor::system()).await?;
    Ok(users.open(user, "bench").await?.token)
}

/// Every page, and the list of notifications in every way it can be asked for.
async fn pages(rig: &Rig) -> anyhow::Result<Vec<(&'static str, String)>> {
    let finished = oldest_looked_at(rig).await?;
    let fixed = [
        ("overview, hour", "/"),
        ("overview, day", "/?span=day"),
        ("overview, week", "/?span=week"),
        ("notifications", "/notifications"),
        ("delivered", "/notifications?status=Delivered"),
        ("parked", "/notifications?status=Parked"),
        ("waiting", "/notifications?status=Pending&status=Retrying"),
        ("stuck", "/notifications?stuck=true"),
        ("by type", "/notifications?type=Webhook"),
        ("by provider", "/notifications?provider=held"),
        ("by site", "/notifications?site=nowhere"),
        ("by list", "/notifications?list=ops"),
        ("by error", "/notifications?errorCode=NO_ADAPTER"),
        ("by time", "/notifications?range=7d"),
        ("by words found", "/notifications?q=order&range=7d"),
        ("by words not there", "/notifications?q=nothing&range=7d"),
        ("sites", "/sites"),
        ("audit", "/audit"),
        ("audit by kind", "/audit?kind=LaneHeld"),
        ("audit by actor", "/audit?actor=nobody"),
        ("providers", "/providers"),
        ("provider", "/providers/held"),
        ("lists", "/lists"),
        ("list", "/lists/ops"),
        ("send", "/send"),
        ("keys", "/keys"),
        ("users", "/users"),
        ("loops", "/loops"),
        ("account", "/account"),
    ];
    let mut pages: Vec<_> = fixed
        .into_iter()
        .map(|(name, path)| (name, path.to_owned()))
        .collect();
    pages.push(("one notification", format!("/notifications/{finished}")));
    Ok(pages)
}

/// One of the history.
async fn oldest_looked_at(rig: &Rig) -> anyhow::Result<NotificationId> {
    let page = Page {
        limit: 1000,
        after: None,
    };
    let found = rig
        .central
        .store
        .list(TenantId::DEFAULT, &Filter::default(), page)
        .await?;
    let last = found.rows.last().context("the history is empty")?;
    Ok(last.submission.id)
}
