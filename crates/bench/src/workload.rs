//! The questions that can be asked.

use super::{
    api, bad_rows, console,
    context::Bench,
    drain,
    enqueue::{self, Callers},
    event_outbox, events, forward, growth, lanes, latency, memory, pages, reader,
    reading::Reading,
    receipts, site_memory, site_send, smtp,
};
use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Workload {
    /// One caller, one message at a time
    #[value(name = "enqueue-1")]
    EnqueueOne,
    /// 32 callers, one message at a time each
    #[value(name = "enqueue-32")]
    EnqueueMany,
    /// A thousand messages in each call
    EnqueueBulk,
    /// Deliver a backlog, doing nothing with each message
    Drain,
    /// Deliver a backlog, one HTTP POST each
    DrainHttp,
    /// From submit to the start of the handler
    Latency,
    /// Drain while a large history is kept
    Growth,
    /// Deliver a backlog by SMTP
    Smtp,
    /// POST /api/notifications from 32 kept-alive clients
    Api,
    /// Memory while a million messages are delivered
    Memory,
    /// 5,000 lanes of which 500 are dead
    Lanes,
    /// A transaction that is left open while messages come and go
    Reader,
    /// One bad message in a thousand
    BadRows,
    /// Deliver a backlog while 30,000 receipts come in
    Receipts,
    /// Events that become messages: how soon, and how fast beside the dispatcher
    Events,
    /// What reading an outbox costs an application's own writes (SQLite), and a poll beside a reader that stays (PostgreSQL)
    EventOutbox,
    /// Figures, list and claim as history grows
    Pages,
    /// Every page of the console with 10,000 and with 1,000,000 notifications
    Console,
    /// A site's backlog handed over to central, over a real link
    Forward,
    /// Sends at a site whose link is down: one sender, a hundred senders
    SiteSend,
    /// Memory of a site agent with a million messages, waiting and while it hands them over
    SiteMemory,
    /// Everything
    All,
}

const QUICK: &[Workload] = &[
    Workload::EnqueueOne,
    Workload::EnqueueMany,
    Workload::EnqueueBulk,
    Workload::Drain,
    Workload::DrainHttp,
    Workload::Latency,
];

impl Workload {
    /// What was asked for, in the order of this file and each once.
    pub fn chosen(asked: &[Workload]) -> Vec<Workload> {
        let all = Workload::value_variants()
            .iter()
            .copied()
            .filter(|w| *w != Workload::All);
        match asked {
            [] => QUICK.to_vec(),
            asked if asked.contains(&Workload::All) => all.collect(),
            asked => all.filter(|w| asked.contains(w)).collect(),
        }
    }

    /// Those that repeat inside, on a database that takes long to fill, run once.
    pub fn rounds(self, asked: u32) -> u32 {
        match self {
            Workload::Growth
            | Workload::Memory
            | Workload::Reader
            | Workload::Pages
            | Workload::Console
            | Workload::SiteMemory => 1,
            _ => asked,
        }
    }

    /// Measures once, with its limit.
    pub async fn round(self, bench: &Bench) -> anyhow::Result<Vec<Reading>> {
        match self {
            Workload::EnqueueOne => Box::pin(enqueue::round(bench, Callers::One)).await,
            Workload::EnqueueMany => Box::pin(enqueue::round(bench, Callers::Many)).await,
            Workload::EnqueueBulk => Box::pin(enqueue::round(bench, Callers::Bulk)).await,
            Workload::Drain => Box::pin(drain::noop(bench)).await,
            Workload::DrainHttp => Box::pin(drain::http(bench)).await,
            Workload::Latency => Box::pin(latency::round(bench)).await,
            Workload::Growth => Box::pin(growth::round(bench)).await,
            Workload::Smtp => Box::pin(smtp::round(bench)).await,
            Workload::Api => Box::pin(api::round(bench)).await,
            Workload::Memory => Box::pin(memory::round(bench)).await,
            Workload::Lanes => Box::pin(lanes::round(bench)).await,
            Workload::Reader => Box::pin(reader::round(bench)).await,
            Workload::BadRows => Box::pin(bad_rows::round(bench)).await,
            Workload::Receipts => Box::pin(receipts::round(bench)).await,
            Workload::Events => Box::pin(events::round(bench)).await,
            Workload::EventOutbox => Box::pin(event_outbox::round(bench)).await,
            Workload::Pages => Box::pin(pages::round(bench)).await,
            Workload::Console => Box::pin(console::round(bench)).await,
            Workload::Forward => Box::pin(forward::round(bench)).await,
            Workload::SiteSend => Box::pin(site_send::round(bench)).await,
            Workload::SiteMemory => Box::pin(site_memory::round(bench)).await,
            Workload::All => Ok(vec![]),
        }
    }
}

impl std::fmt::Display for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.to_possible_value() {
            Some(value) => f.write_str(value.get_name()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_name_the_quick_ones_run_and_each_runs_once() {
        assert_eq!(Workload::chosen(&[]), QUICK);
        assert_eq!(
            Workload::chosen(&[Workload::Drain, Workload::Drain]),
            [Workload::Drain]
        );
        assert!(!Workload::chosen(&[Workload::All]).contains(&Workload::All));
    }
}
