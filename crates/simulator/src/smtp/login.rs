//! The part of a conversation in which the client logs in.

use super::{
    auth::{self, Credential, Mechanism},
    script::Phase,
    session::{Session, Step},
};
use std::io;

impl Session {
    pub(super) async fn authenticate(&mut self, line: &str) -> io::Result<()> {
        if self.decided(Phase::Auth, None, None).await? != Step::Usual {
            return Ok(());
        }
        let mut words = line.split_whitespace().skip(1);
        let name = words.next().unwrap_or("").to_ascii_uppercase();
        let initial = words.next().map(str::to_owned);
        let offered = self.shared.options.auth.iter().copied();
        let offered = match offered.into_iter().find(|m| m.name() == name) {
            None => {
                self.say("504 5.5.4 mechanism not offered");
                return Ok(());
            }
            Some(Mechanism::Plain) => {
                let text = self.or_ask(initial, "").await?;
                auth::read_plain(&text)
            }
            Some(Mechanism::Login) => {
                let user = self.or_ask(initial, "Username:").await?;
                let password = self.or_ask(None, "Password:").await?;
                auth::decode(&user)
                    .zip(auth::decode(&password))
                    .map(|(user, password)| Credential::new(&user, &password))
            }
            Some(Mechanism::XOAuth2) => {
                let text = self.or_ask(initial, "").await?;
                let offered = auth::read_xoauth2(&text).filter(|c| self.shared.credentials.accept(c));
                if offered.is_none() {
                    let why = r#"{"status":"401","schemes":"bearer","scope":"https://mail.example.com/"}"#;
                    self.ask(why).await?;
                }
                offered
            }
        };
        match offered.filter(|c| self.shared.credentials.accept(c)) {
            Some(credential) => {
                self.user = Some(credential.user);
                self.say("235 2.7.0 welcome");
            }
            None => self.say("535 5.7.8 credentials not accepted"),
        }
        Ok(())
    }

    async fn or_ask(&mut self, initial: Option<String>, challenge: &str) -> io::Result<String> {
        match initial {
            Some(text) => Ok(text),
            None => self.ask(challenge).await,
        }
    }

    async fn ask(&mut self, challenge: &str) -> io::Result<String> {
        self.say(&format!("334 {}", auth::encode(challenge)));
        if !self.read_line().await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(String::from_utf8_lossy(&self.line).trim_end().to_owned())
    }
}
