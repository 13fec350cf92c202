//! E-mail by SMTP: the kind `smtp`.
//!
//! One attempt is one transaction for all targets, with a result for each. Sessions are kept between attempts.
//! In reading order: `settings`, `compose` (the mail), `session` (getting in), `transaction` (handing over),
//! `classify` (what the answers mean).

mod address;
mod classify;
mod compose;
mod pool;
mod recipients;
mod reply;
mod session;
mod settings;
mod transaction;
mod wire;

use crate::{
    adapter::{Adapter, Attempt, Message},
    kind::{Kind, KindInfo, Settings},
    outside::Outside,
    redact::Redactor,
};
use async_trait::async_trait;
use classify::{Cause, Phase, SmtpError};
use domain::{Channel, FieldError, Limits, OnAmbiguous, Outcome, RetryPolicy};
use pool::Pool;
use recipients::Recipients;
use secrecy::{ExposeSecret, SecretString};
use session::{Credentials, Session};
use settings::{Auth, SmtpSettings};
use std::sync::Arc;
use transaction::{Letter, transact};
use wire::Log;

/// The kind `smtp`.
#[derive(Debug, Clone)]
pub struct SmtpKind {
    info: KindInfo,
    outside: Arc<Outside>,
}

impl SmtpKind {
    pub fn new(outside: Arc<Outside>) -> Self {
        let info = KindInfo {
            kind: "smtp",
            channel: Channel::Email,
            title: "E-mail by SMTP",
            setup: "A mail server that takes mail from this machine, and an account on it where it asks for one.",
            settings: settings::described(),
            retry: RetryPolicy::email(),
            limits: Limits {
                concurrency: 16,
                per_second: None,
            },
            on_ambiguous: OnAmbiguous::Resend,
        };
        Self { info, outside }
    }
}

impl Kind for SmtpKind {
    fn info(&self) -> &KindInfo {
        &self.info
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
    async fn deliver(&self, message: &Message, attempt: Attempt) -> Outcome {
        let attempt = attempt.within(self.settings.timeout);
        let domain = &self.settings.domain;
        attempt
            .recorder
            .message_id(|| compose::message_id(message.id, domain));
        let mut recipients = Recipients::new(message);
        let data = compose::compose(message, &self.settings);
        let letter = Letter {
            from: &self.settings.from,
            data: &data,
            secret: message.unsubscribe.as_deref(),
        };
        let mut token = None;
        if let Err(error) = self
            .hand_over(&letter, &mut recipients, &mut token, &attempt)
            .await
        {
            recipients.fail_open(&error.into());
        }
        self.redactor(token.as_ref()).outcome(recipients.conclude())
    }
}

impl SmtpAdapter {
    /// Goes on until every recipient has a result, or the connection gives out.
    async fn hand_over(
        &self,
        letter: &Letter<'_>,
        recipients: &mut Recipients,
        token: &mut Option<SecretString>,
        attempt: &Attempt,
    ) -> Result<(), SmtpError> {
        let mut kept = self.pool.take();
        while recipients.has_open() {
            let was_kept = kept.is_some();
            let mut session = match kept.take() {
                Some(session) => session,
                None => self.open(token, attempt).await?,
            };
            if attempt.recorder.is_on() {
                session.wire.log = self.log(token.as_ref(), attempt, letter.secret);
            }
            recipients.refuse_utf8_unless(session.capabilities.utf8);
            let open = recipients.open();
            if open.is_empty() {
                self.pool.put(session);
                break;
            }
            match transact(
                &mut session,
                letter,
                &recipients.mailboxes(&open),
                attempt.deadline,
            )
            .await
            {
                Ok(transacted) => {
                    let usable = transacted.usable;
                    recipients.take(&open, transacted);
                    if usable && recipients.has_open() {
                        kept = Some(session);
                    } else if usable {
                        self.pool.put(session);
                    }
                }
                // The server had hung up on a kept session, and nothing was sent: as if it had never been kept.
                Err(broken) if was_kept && broken.before_any_answer => {}
                Err(broken) => return Err(broken.error),
            }
        }
        Ok(())
    }

    /// A new session. A token that the server turns down is renewed once.
    async fn open(&self, token: &mut Option<SecretString>, attempt: &Attempt) -> Result<Session, SmtpError> {
        let (username, tokens) = match &self.settings.auth {
            Auth::None => return self.open_with(Credentials::None, attempt, None).await,
            Auth::Plain { username, password } => {
                let login = Credentials::Plain(username, password.expose_secret());
                return self.open_with(login, attempt, None).await;
            }
            Auth::Login { username, password } => {
                let login = Credentials::Login(username, password.expose_secret());
                return self.open_with(login, attempt, None).await;
            }
            Auth::XOAuth2 { username, tokens } => (username, tokens),
        };
        let mut renewed = false;
        loop {
            let refused = token.clone().filter(|_| renewed);
            let fresh = tokens.get(refused.as_ref(), attempt).await;
            let fresh = fresh.map_err(|failure| Phase::Auth.error(Cause::Token(failure)))?;
            let login = Credentials::XOAuth2(username, fresh.expose_secret());
            let opened = self.open_with(login, attempt, Some(&fresh)).await;
            *token = Some(fresh.clone());
            match opened {
                Err(error) if error.is_refused_login() && !renewed => renewed = true,
                opened => return opened,
            }
        }
    }

    async fn open_with(
        &self,
        credentials: Credentials<'_>,
        attempt: &Attempt,
        token: Option<&SecretString>,
    ) -> Result<Session, SmtpError> {
        let log = self.log(token, attempt, None);
        let vetting = &self.outside.vetting;
        Session::open(&self.settings, vetting, &credentials, log, attempt.deadline).await
    }

    /// Who writes down what is said in this attempt.
    fn log(&self, token: Option<&SecretString>, attempt: &Attempt, secret: Option<&str>) -> Log {
        if !attempt.recorder.is_on() {
            return Log::default();
        }
        let mut redactor = self.redactor(token);
        redactor.hide_exact(secret.unwrap_or_default().to_owned());
        Log::new(attempt.recorder.clone(), redactor)
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
