//! The HTTP API on a real socket, beside the same node without HTTP.

use super::{
    context::Bench,
    enqueue::{self, Callers},
    http::Bare,
    load::Load,
    reading::{Reading, Target},
    rig::Rig,
};
use crate::limits::{CLIENTS, per_second};
use bytes::Bytes;
use domain::{Actor, Channel, Submission, TenantId};
use serde_json::json;
use std::{
    net::TcpListener,
    time::{Duration, Instant},
};
use store::directory::Role;
use tokio_util::sync::CancellationToken;
use web::WebState;

pub async fn round(bench: &Bench) -> anyhow::Result<Vec<Reading>> {
    let in_process = enqueue::ours(bench, Callers::Many).await?.per_second;
    let location = bench.fresh().await?;
    let rig = Rig::on(&location).await?;
    rig.noop().await?;
    let rate = post(&rig, bench.scale.run_for).await?;
    rig.close().await;
    bench.database.remove(location).await?;
    Ok(vec![
        Reading::rate("api", rate)
            .beside("in process, 32 callers", in_process)
            .aiming(Target::Share(0.5)),
    ])
}

/// Accepted per second over 32 connections that are kept.
async fn post(rig: &Rig, run_for: Duration) -> anyhow::Result<f64> {
    let key = rig
        .central
        .keys
        .create(TenantId::DEFAULT, "bench", Role::Producer, &Actor::system())
        .await?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/api/notifications", listener.local_addr()?);
    let stop = CancellationToken::new();
    let router = web::router(WebState::new(rig.central.clone()).with_stop(stop.clone()));
    let server = tokio::spawn(web::serve(listener, None, router, stop.clone()));
    let client = Bare::new(&url).with_header("authorization", format!("Bearer {}", key.text));
    let load = Load::new("noop", Channel::Email);
    client.post(body(&load.message())).await?;
    let start = Instant::now();
    let mut tasks = vec![];
    for _ in 0..CLIENTS {
        let (client, load) = (client.clone(), load.clone());
        tasks.push(tokio::spawn(async move {
            let mut accepted = 0;
            while start.elapsed() < run_for {
                client.post(body(&load.message())).await?;
                accepted += 1;
            }
            anyhow::Ok(accepted)
        }));
    }
    let mut accepted = 0;
    for task in tasks {
        accepted += task.await??;
    }
    let rate = per_second(accepted, start.elapsed());
    drop(client);
    stop.cancel();
    server.await??;
    Ok(rate)
}

fn body(submission: &Submission) -> Bytes {
    let to = match &submission.content.target {
        domain::Target::Recipients(to) => to.as_slice(),
        domain::Target::List(_) | domain::Target::Provider => &[],
    };
    let json = json!({
        "idempotencyKey": submission.idempotency_key,
        "providerId": submission.content.provider,
        "to": to,
        "subject": submission.content.subject,
        "body": submission.content.body,
    });
    Bytes::from(json.to_string())
}
