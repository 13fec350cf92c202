//! A mail catcher and a webhook receiver, with scripted failures.

use simulator::{
    HttpOptions, HttpReceiver, SmtpOptions, SmtpServer,
    http::HttpRule,
    smtp::{Phase, SmtpRule},
};
use std::io;

/// Gets a mail through only at the second try.
pub const GREYLISTED: &str = "night-shift@plant.example";
/// Does not exist at the catcher.
pub const GONE: &str = "left-last-year@plant.example";
/// Answers 503 now and then.
pub const FLAKY_PATH: &str = "/flaky";
/// Where the sites' orders go; answers 503 at first.
pub const ERP_ORDERS: &str = "/erp/orders";
/// Refuses everything until it is mended.
pub const STRICT_PATH: &str = "/strict";

#[derive(Debug)]
pub struct FarEnds {
    pub mail: SmtpServer,
    pub http: HttpReceiver,
}

impl FarEnds {
    pub async fn start() -> io::Result<Self> {
        Ok(Self {
            mail: SmtpServer::start(SmtpOptions::default()).await?,
            http: HttpReceiver::start(HttpOptions::default()).await?,
        })
    }

    /// From now on some things fail.
    pub fn misbehave(&self) {
        self.mail.on(SmtpRule::at(Phase::Rcpt)
            .to(GREYLISTED)
            .times(2)
            .reply("451 4.3.0 try again in a moment"));
        self.mail.on(SmtpRule::at(Phase::Rcpt)
            .to(GONE)
            .reply("550 5.1.1 no such user here"));
        self.http.on(HttpRule::status(503).path(FLAKY_PATH).times(2));
        self.http.on(HttpRule::status(400).path(STRICT_PATH));
        self.http.on(HttpRule::status(503).path(ERP_ORDERS).times(2));
    }

    /// The strict receiver takes what it is sent.
    pub fn mend(&self) {
        self.http.behave();
    }

    pub async fn stop(&self) {
        self.mail.stop().await;
        self.http.stop().await;
    }
}
