//! What Telegram's answers mean. It gives reasons in words, which are told apart by what they contain.

use crate::{
    http::{Answer, Meaning, default_meaning},
    kit::Sending,
    opt_out::OptOut,
    redact::cut,
};
use domain::{Accepted, Failure, Scope, Timestamp, lock::lock};
use serde::Deserialize;
use std::{sync::Mutex, time::Duration};

#[derive(Deserialize, Default)]
#[serde(default)]
struct TelegramAnswer {
    ok: bool,
    result: Sent,
    description: String,
    parameters: Parameters,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Sent {
    message_id: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Parameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

/// The chat that a group has become.
pub(super) fn moved_to(answer: &Answer) -> Option<String> {
    let said: TelegramAnswer = answer.json().filter(|said: &TelegramAnswer| !said.ok)?;
    said.parameters.migrate_to_chat_id.map(|chat| chat.to_string())
}

/// A person has shut the bot out. Being kicked from a group or meeting an account that is gone says nothing of what a person wants.
pub(super) const OPT_OUTS: &[OptOut] = &[OptOut::everything("Forbidden: bot was blocked by the user")];

/// Descriptions of a chat that this bot cannot write to.
const NO_SUCH_CHAT: [&str; 7] = [
    "chat not found",
    "user not found",
    "peer_id_invalid",
    "chat_write_forbidden",
    "no rights to send",
    "not enough rights",
    "upgraded to a supergroup",
];

/// No limit of one chat is remembered for longer.
const MAX_LIMIT_SECONDS: u64 = 86_400;

/// So many chats that are limited at the same time are not so by themselves: it is the bot.
const SEVERAL_CHATS: usize = 3;

/// Whom the bot was told to wait for. The service says the same whether a chat or the whole bot sends too much.
#[derive(Debug, Default)]
pub(super) struct Limited(Mutex<LimitedChats>);

#[derive(Debug, Default)]
struct LimitedChats {
    /// Until when; no more of them than it takes to know.
    chats: Vec<(String, Timestamp)>,
    /// It was the bot, and nothing was taken since.
    whole_bot: bool,
}

impl Limited {
    /// A bot that is limited gets nothing through, so the limits before were those of their chats.
    fn taken(&self) {
        *lock(&self.0) = LimitedChats::default();
    }

    /// How far a limit reaches that a message to this chat has met.
    fn reaches(&self, chat: &str, now: Timestamp, wait: Duration) -> Scope {
        let mut known = lock(&self.0);
        known.chats.retain(|(other, until)| *until > now && other != chat);
        known.chats.push((chat.to_owned(), now + wait));
        known.whole_bot |= known.chats.len() >= SEVERAL_CHATS;
        match known.whole_bot {
            true => {
                known.chats.clear();
                Scope::Lane
            }
            false => Scope::Recipient,
        }
    }
}

pub(super) fn understand(
    limited: &Limited,
    sending: &Sending<'_>,
    answer: &Answer,
) -> Result<Accepted, Failure> {
    let said: TelegramAnswer = answer.json().unwrap_or_default();
    let status = answer.status.as_u16();
    let reason = said.description.to_lowercase();
    let meaning = match status {
        200..=299 if said.ok => {
            limited.taken();
            return answer.accepted(said.result.message_id.map(|id| id.to_string()));
        }
        // A token that is none at all is not found instead of being refused.
        401 | 404 => Meaning::auth(),
        // Blocked, kicked, deactivated, or never spoken to.
        403 => sending.no_such_place(),
        400 if NO_SUCH_CHAT.iter().any(|known| reason.contains(known)) => sending.no_such_place(),
        409 => Meaning::down(),
        429 => {
            let wait = said.parameters.retry_after.unwrap_or(1);
            let seconds = Duration::from_secs(wait.min(MAX_LIMIT_SECONDS));
            let scope = sending
                .target
                .map_or(Scope::Lane, |chat| limited.reaches(chat, sending.now, seconds));
            Meaning::rate_limited(scope).waiting(wait)
        }
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    let reason = Some(cut(&said.description, 80).to_owned()).filter(|reason| !reason.is_empty());
    Err(answer.failure(meaning, reason.map(Into::into)))
}
