//! `waypost simulate`: far ends to test against.

use crate::output;
use anyhow::Context;
use domain::retry::parse_human;
use simulator::{
    HttpOptions, HttpReceiver, Identity, SmtpOptions, SmtpServer,
    http::HttpRule,
    smtp::{Mechanism, Phase, SmtpRule, TlsMode},
};
use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// Run far ends to test against: a mail catcher, a webhook receiver and doubles of services, with faults on request
///
/// Catches mail and webhooks, prints what arrives, and misbehaves as told, until Ctrl-C. Nothing is passed on.
///
/// Below /KIND the receiver plays that service: for Telegram, set apiUrl to http://127.0.0.1:8025/telegram.
///
/// The mail catcher offers STARTTLS and takes any login. --ca-file writes the certificate authority to trust (caPem=@FILE).
///
/// http://127.0.0.1:8025/simulator shows what arrived and takes faults while it runs, as does its API:
/// curl -d '{"service": "slack", "status": 429, "retryAfter": 30, "times": 2}' http://127.0.0.1:8025/simulator/faults
///
/// It also tells what became of messages that arrived, as Twilio, MSG91, Meta, Interakt and Pushover do:
/// curl -d '{"service": "twilio", "states": ["delivered"], "secret": "AUTH-TOKEN"}' http://127.0.0.1:8025/simulator/receipts
///
/// Central has to be allowed to connect to it: delivery.allow_addresses = ["127.0.0.1"].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the mail catcher listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:2525")]
    smtp: SocketAddr,
    /// Where the webhook receiver listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8025")]
    http: SocketAddr,
    /// Write the certificate authority of the mail catcher here, as PEM
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Refuse mail with this reply, like "450 4.2.1 try later" or "550 5.1.1 no such user"
    #[arg(long, value_name = "REPLY")]
    smtp_reply: Option<String>,
    /// Refuse only this recipient
    #[arg(long, value_name = "ADDRESS", requires = "smtp_reply")]
    smtp_refuse: Option<String>,
    /// Answer webhooks with this status, like 503
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(200..=599))]
    http_status: Option<u16>,
    /// Ask to be left alone for this long, with --http-status
    #[arg(long, value_name = "DURATION", value_parser = parse_human, requires = "http_status")]
    retry_after: Option<Duration>,
    /// Misbehave only in this share of cases, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    chance: f64,
    /// Misbehave only so many times, then behave
    #[arg(long, value_name = "N")]
    times: Option<u32>,
    /// Take this long over every answer
    #[arg(long, value_name = "DURATION", value_parser = parse_human)]
    delay: Option<Duration>,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| format!("{text:?} is not a number"))?;
    (0.0..=1.0)
        .contains(&share)
        .then_some(share)
        .ok_or_else(|| format!("{text} is not between 0 and 1"))
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let mail = SmtpServer::start(SmtpOptions {
        listen: args.smtp,
        tls: TlsMode::StartTls(Identity::local()?),
        auth: Mechanism::ALL.to_vec(),
        ..SmtpOptions::default()
    })
    .await
    .with_context(|| format!("cannot listen on {}", args.smtp))?;
    let mail = Arc::new(mail);
    let hooks = HttpReceiver::start(HttpOptions {
        listen: args.http,
        mail: Some(mail.clone()),
        ..HttpOptions::default()
    })
    .await
    .with_context(|| format!("cannot listen on {}", args.http))?;
    if let (Some(file), Some(pem)) = (&args.ca_file, mail.ca_pem()) {
        std::fs::write(file, pem).with_context(|| format!("cannot write {}", file.display()))?;
    }
    args.mail_rules().into_iter().for_each(|rule| mail.on(rule));
    args.hook_rules().into_iter().for_each(|rule| hooks.on(rule));
    output::line(format_args!(
        "mail catcher on {}, webhook receiver on {}, what arrived on {}",
        mail.address(),
        hooks.url("/"),
        hooks.page()
    ))?;
    let stop = CancellationToken::new();
    crate::wiring::signals::watch(stop.clone())?;
    watch(&mail, &hooks, &stop).await?;
    tokio::join!(mail.stop(), hooks.stop());
    let (mails, requests) = (mail.counts(), hooks.counts());
    output::line(format_args!(
        "{} mails to {} recipients ({} twice), {} requests ({} taken)",
        mails.mails, mails.deliveries, mails.repeats, requests.requests, requests.taken
    ))
}

/// Prints what is new, four times a second.
async fn watch(mail: &SmtpServer, hooks: &HttpReceiver, stop: &CancellationToken) -> anyhow::Result<()> {
    let mut tick = tokio::time::interval(Duration::from_millis(250));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut mails, mut requests) = (0, 0);
    loop {
        tokio::select! { biased; () = stop.cancelled() => return Ok(()), _ = tick.tick() => {} }
        let caught = mail.mails();
        let new = usize::try_from(mail.counts().mails - mails)
            .unwrap_or(usize::MAX)
            .min(caught.len());
        mails = mail.counts().mails;
        for one in &caught[caught.len() - new..] {
            output::line(format_args!(
                "mail to {}: {}",
                one.recipients.join(", "),
                one.subject()
            ))?;
        }
        let received = hooks.requests();
        let new = usize::try_from(hooks.counts().requests - requests)
            .unwrap_or(usize::MAX)
            .min(received.len());
        requests = hooks.counts().requests;
        for one in &received[received.len() - new..] {
            output::line(format_args!(
                "{} {} ({} bytes)",
                one.method,
                one.path,
                one.body.len()
            ))?;
        }
    }
}

impl Args {
    fn mail_rules(&self) -> Vec<SmtpRule> {
        let mut rules = vec![];
        if let Some(reply) = &self.smtp_reply {
            let at = match &self.smtp_refuse {
                Some(address) => SmtpRule::at(Phase::Rcpt).to(address),
                None => SmtpRule::at(Phase::AfterDot),
            };
            let mut rule = at
                .reply(reply)
                .chance(self.chance)
                .delayed(self.delay.unwrap_or_default());
            if let Some(n) = self.times {
                rule = rule.times(n);
            }
            rules.push(rule);
        }
        rules.extend(
            self.delay
                .map(|delay| SmtpRule::at(Phase::AfterDot).delayed(delay)),
        );
        rules
    }

    fn hook_rules(&self) -> Vec<HttpRule> {
        let mut rules = vec![];
        if let Some(status) = self.http_status {
            let mut rule = HttpRule::status(status)
                .chance(self.chance)
                .delayed(self.delay.unwrap_or_default());
            if let Some(n) = self.times {
                rule = rule.times(n);
            }
            if let Some(wait) = self.retry_after {
                rule = rule.retry_after(&wait.as_secs().to_string());
            }
            rules.push(rule);
        }
        rules.extend(self.delay.map(|delay| HttpRule::usual().delayed(delay)));
        rules
    }
}
