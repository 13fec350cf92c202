//! E-mail by SMTP: the kind `smtp`.
//!
//! One attempt is one transaction for all targets, with a result for each. Sessions are kept between attempts.
//! In reading order: `settings`, `compose` (the mail), `session` (getting in), `transaction` (handing over),
//! `classify` (what the answers mean).

mod address;
mod attempt;
mod classify;
mod compose;
mod oauth;
mod pool;
mod reply;
mod session;
mod settings;
mod transaction;
mod wire;

use crate::{
    adapter::{Adapter, Deadline, Message},
    kind::{Kind, KindInfo, Settings},
    outside::Outside,
    redact::Redactor,
};
use async_trait::async_trait;
use attempt::Attempt;
use classify::{Cause, Phase, Trouble};
use domain::{Channel, FieldError, Limits, OnAmbiguous, Outcome, RetryPolicy};
use pool::Pool;
use secrecy::{ExposeSecret, SecretString};
use session::{Credentials, Session};
use settings::{Auth, SmtpSettings};
use std::sync::Arc;
use transaction::{Letter, transact};

/// The kind `smtp`.
#[derive(Debug, Clone)]
pub struct SmtpKind {
    outside: Arc<Outside>,
}

impl SmtpKind {
    pub fn new(outside: Arc<Outside>) -> Self {
        Self { outside }
    }
}

impl Kind for SmtpKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "smtp",
            channel: Channel::Email,
            title: "E-mail by SMTP",
            settings: settings::described(),
            retry: RetryPolicy::email(),
            limits: Limits {
                concurrency: 16,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn check(&self, settings: &Settings) -> Vec<FieldError> {
        SmtpSettings::read(settings, &self.outside)
            .err()
            .unwrap_or_default()
    }

    fn build(&self, settings: &Settings) -> Result<Arc<dyn Adapter>, Vec<FieldError>> {
        let settings = SmtpSettings::read(settings, &self.outside)?;
        Ok(Arc::new(SmtpAdapter {
            settings,
            outside: self.outside.clone(),
            pool: Pool::default(),
        }))
    }
}

#[derive(Debug)]
struct SmtpAdapter {
    settings: SmtpSettings,
    outside: Arc<Outside>,
    pool: Pool,
}

#[async_trait]
impl Adapter for SmtpAdapter {
    async fn deliver(&self, message: &Message, deadline: Deadline) -> Outcome {
        let deadline = deadline.within(self.settings.timeout).with_margin();
        let mut attempt = Attempt::new(message);
        let data = compose::compose(message, &self.settings);
        let letter = Letter {
            from: &self.settings.from,
            data: &data,
        };
        let mut token = None;
        if let Err(trouble) = self.attempt(&letter, &mut attempt, &mut token, deadline).await {
            attempt.fail_open(&trouble.into());
        }
        self.redactor(token.as_ref()).outcome(attempt.conclude())
    }
}

impl SmtpAdapter {
    /// Goes on until every recipient has a result, or the connection gives out.
    async fn attempt(
        &self,
        letter: &Letter<'_>,
        attempt: &mut Attempt,
        token: &mut Option<SecretString>,
        deadline: Deadline,
    ) -> Result<(), Trouble> {
        let mut kept = self.pool.take();
        while attempt.has_open() {
            let was_kept = kept.is_some();
            let mut session = match kept.take() {
                Some(session) => session,
                None => self.open(token, deadline).await?,
            };
            attempt.refuse_utf8_unless(session.offers.utf8);
            let open = attempt.open();
            if open.is_empty() {
                self.pool.put(session);
                break;
            }
            match transact(&mut session, letter, &attempt.mailboxes(&open), deadline).await {
                Ok(round) => {
                    let usable = round.usable;
                    attempt.take(&open, round);
                    if usable && attempt.has_open() {
                        kept = Some(session);
                    } else if usable {
                        self.pool.put(session);
                    }
                }
                // The server had hung up on a kept session, and nothing was sent: as if it had never been kept.
                Err(broken) if was_kept && broken.before_any_answer => {}
                Err(broken) => return Err(broken.trouble),
            }
        }
        Ok(())
    }

    /// A new session. A token that the server turns down is renewed once.
    async fn open(&self, token: &mut Option<SecretString>, deadline: Deadline) -> Result<Session, Trouble> {
        match &self.settings.auth {
            Auth::None => self.open_with(Credentials::None, deadline).await,
            Auth::Plain { username, password } => {
                self.open_with(Credentials::Plain(username, password.expose_secret()), deadline)
                    .await
            }
            Auth::Login { username, password } => {
                self.open_with(Credentials::Login(username, password.expose_secret()), deadline)
                    .await
            }
            Auth::XOAuth2 { username, tokens } => {
                let mut renewed = false;
                loop {
                    let refused = token.clone().filter(|_| renewed);
                    let fresh = tokens.get(refused.as_ref(), deadline).await;
                    let fresh = fresh.map_err(|failure| Phase::Auth.trouble(Cause::Token(failure)))?;
                    let opened = self
                        .open_with(Credentials::XOAuth2(username, fresh.expose_secret()), deadline)
                        .await;
                    *token = Some(fresh.clone());
                    match opened {
                        Err(trouble) if trouble.is_refused_login() && !renewed => renewed = true,
                        opened => return opened,
                    }
                }
            }
        }
    }

    async fn open_with(&self, credentials: Credentials<'_>, deadline: Deadline) -> Result<Session, Trouble> {
        Session::open(&self.settings, &self.outside.vetting, &credentials, deadline).await
    }

    fn redactor(&self, token: Option<&SecretString>) -> Redactor {
        let mut redactor = self.settings.redactor.clone();
        if let (Some(token), Auth::XOAuth2 { username, .. }) = (token, &self.settings.auth) {
            redactor.hide(token.expose_secret());
            redactor.hide_exact(session::xoauth2(username, token.expose_secret()));
        }
        redactor
    }
}
