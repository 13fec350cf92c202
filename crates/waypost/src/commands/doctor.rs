//! `waypost doctor`: what is stuck and why, and what to do about it.

use super::{doctor_events, doctor_parked, doctor_sites};
use crate::{
    connect::Connect,
    output::{self, lanes::doing, time},
};
use client::{Check, Client, Kpis, Lane, LoopReport};
use domain::{Clock, SystemClock};
use serde::Serialize;

/// Say what is stuck and why, and what to do about it
///
/// Looks at central and at its sites. Ends with 1 when something is wrong.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    format: output::Format,
    #[command(flatten)]
    central: Connect,
}

/// Something that is not as it should be, and what helps.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub what: String,
    pub advice: String,
}

impl Finding {
    pub fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            advice: advice.into(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    /// None when central is not ready.
    kpis: Option<Kpis>,
    findings: Vec<Finding>,
    loops: Vec<LoopReport>,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let report = examine(&args.central.client()?).await?;
    show(&report, &args.format)?;
    match report.findings.len() {
        0 => Ok(()),
        1 => anyhow::bail!("one thing is wrong"),
        n => anyhow::bail!("{n} things are wrong"),
    }
}

fn show(report: &Report, format: &output::Format) -> anyhow::Result<()> {
    if format.json {
        return output::json(report);
    }
    if let Some(k) = &report.kpis {
        output::line(format_args!(
            "{} waiting, {} stuck, {} parked, {} delivered lately",
            k.queue_depth, k.stuck_count, k.parked_count, k.delivered_last_interval
        ))?;
    }
    for report in &report.loops {
        output::line(in_words(report))?;
    }
    if report.findings.is_empty() {
        return output::line("nothing is wrong");
    }
    for Finding { what, advice } in &report.findings {
        output::line(format_args!("\n! {what}\n  {advice}"))?;
    }
    Ok(())
}

/// "loop purge: purged 3 notifications, 2m ago in 40 ms; next in 23h"; of one whose last run had nothing to do, also what
/// it did when it last had.
fn in_words(report: &LoopReport) -> String {
    // One that has not run has no last run to tell of.
    let last = match report.runs {
        0 => String::new(),
        _ => format!(", {} in {} ms", time::short(report.at), report.duration_ms),
    };
    let before = match &report.last_work {
        Some(work) if work.at != report.at => {
            format!("; last work {}: {}", time::short(work.at), work.result)
        }
        _ => String::new(),
    };
    let next = match (report.running_since, report.next_run) {
        (Some(since), _) => format!("runs since {}", time::short(since)),
        (None, Some(next)) => format!("next {}", time::short(next)),
        (None, None) => "waits for something to do".to_owned(),
    };
    let panics = match report.panics {
        0 => String::new(),
        n => format!("; {n} panics"),
    };
    format!(
        "loop {}: {}{last}{before}; {next}{panics}",
        report.name, report.result
    )
}

async fn examine(client: &Client) -> anyhow::Result<Report> {
    let readiness = client.readyz().await?;
    let mut findings: Vec<_> = readiness.checks.iter().filter(|c| !c.ok).map(not_ready).collect();
    if !readiness.ready {
        // Without its store central cannot answer the rest, and this is what has to be mended first.
        return Ok(Report {
            kpis: None,
            findings,
            loops: vec![],
        });
    }
    let kpis = client.kpis().await?;
    let loops = client.loops().await?;
    let lanes = client.lanes().await?;
    findings.extend(lanes.iter().filter_map(of_lane));
    findings.extend(stuck(&kpis, &lanes));
    findings.extend(doctor_parked::findings(client).await?);
    findings.extend(loops.iter().filter(|l| !l.ok).map(failing));
    findings.extend(doctor_events::findings(client, SystemClock.now()).await?);
    findings.extend(doctor_sites::findings(&client.sites().await?, SystemClock.now()));
    Ok(Report {
        kpis: Some(kpis),
        findings,
        loops,
    })
}

fn not_ready(check: &Check) -> Finding {
    Finding::new(
        format!(
            "{} is not ready: {}",
            check.name,
            check.detail.as_deref().unwrap_or("it does not say why")
        ),
        "Central accepts nothing it cannot keep; senders try again by themselves once this is mended.",
    )
}

fn failing(report: &LoopReport) -> Finding {
    Finding::new(
        format!(
            "the loop {} failed {}: {}",
            report.name,
            time::short(report.at),
            report.result
        ),
        "It runs again in its time; if it keeps failing, central's log has the whole story.",
    )
}

/// What the lane says itself, with its times.
fn of_lane(lane: &Lane) -> Option<Finding> {
    if !lane.wrong {
        return None;
    }
    let waiting = match lane.waiting {
        1 => "1 notification waits".to_owned(),
        n => format!("{n} notifications wait"),
    };
    let what = format!("{}; {waiting}", doing(lane));
    let advice = lane.advice.clone().unwrap_or_default();
    Some(Finding::new(what, advice))
}

fn stuck(kpis: &Kpis, lanes: &[Lane]) -> Option<Finding> {
    if kpis.stuck_count == 0 {
        return None;
    }
    let what = format!("{} notifications wait for too long", kpis.stuck_count);
    let kept = |lane: &Lane| lane.hold.is_some() || lane.sealed.is_some();
    let advice = match lanes.iter().any(kept) {
        true => {
            "Most likely because of what is held, above. `waypost list --stuck` shows them with the reason."
        }
        false => {
            "Nothing is held, so their far ends keep failing. `waypost list --stuck` shows them with the reason."
        }
    };
    Some(Finding::new(what, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::Timestamp;

    #[test]
    fn a_loop_is_told_of_with_its_last_run_its_next_one_and_its_panics() {
        let report = LoopReport {
            name: "purge".into(),
            what: "deletes what is past its time".into(),
            at: Timestamp::EPOCH,
            duration_ms: 40,
            ok: true,
            result: "purged 3 notifications".into(),
            last_work: None,
            runs: 2,
            panics: 0,
            every: serde_json::json!("1d"),
            running_since: None,
            next_run: None,
        };
        let said = in_words(&report);
        assert!(said.starts_with("loop purge: purged 3 notifications, "), "{said}");
        assert!(said.ends_with(" in 40 ms; waits for something to do"), "{said}");
        let new = LoopReport {
            runs: 0,
            result: "has not run yet".into(),
            ..report.clone()
        };
        assert_eq!(
            in_words(&new),
            "loop purge: has not run yet; waits for something to do"
        );
        let idle = LoopReport {
            result: "nothing was past its time".into(),
            last_work: Some(client::LoopWork {
                at: Timestamp::from_millis(-1000),
                result: "purged 3 notifications".into(),
            }),
            ..report.clone()
        };
        let said = in_words(&idle);
        assert!(
            said.starts_with("loop purge: nothing was past its time, "),
            "{said}"
        );
        assert!(said.contains(": purged 3 notifications; waits"), "{said}");
        let failing = LoopReport {
            panics: 2,
            running_since: Some(Timestamp::EPOCH),
            ..report
        };
        let said = in_words(&failing);
        assert!(
            said.contains("; runs since ") && said.ends_with("; 2 panics"),
            "{said}"
        );
    }

    fn a_lane() -> Lane {
        serde_json::from_value(serde_json::json!({
            "provider": "mail", "waiting": 7, "hold": null, "notBefore": null, "state": "held",
            "words": "the provider refuses our credentials", "detail": "535 no", "wrong": true, "advice": "Set the right ones."
        }))
        .unwrap()
    }

    #[test]
    fn a_lane_in_trouble_is_told_of_in_its_own_words_with_what_helps() {
        let told = of_lane(&a_lane()).unwrap();
        assert_eq!(
            told.what,
            "mail is held: the provider refuses our credentials (535 no); 7 notifications wait"
        );
        assert_eq!(told.advice, "Set the right ones.");
        let well = Lane {
            wrong: false,
            ..a_lane()
        };
        assert_eq!(of_lane(&well), None);
    }

    #[test]
    fn a_lane_says_since_when_it_is_so_and_when_it_goes_on() {
        let lane = Lane {
            provider: String::new(),
            since: Some(Timestamp::EPOCH),
            until: Some(Timestamp::EPOCH),
            detail: None,
            ..a_lane()
        };
        let said = doing(&lane);
        assert!(
            said.starts_with("what has no provider is held: the provider refuses our credentials, since "),
            "{said}"
        );
        assert!(said.contains("; next "), "{said}");
    }
}
