//! Messages of a Telegram bot: the kind `telegram`.

mod answers;
mod request;

use crate::{
    http::Answer,
    kind::{KindInfo, Setting},
    kit::{Endpoint, HttpService, Sending, below, content_problems, described_timeout},
    opt_out::OptOut,
    settings::{Problems, Values},
};
use bytes::Bytes;
use domain::{Accepted, Channel, Content, Failure, FieldError, Limits, OnAmbiguous, RetryPolicy};
use hyper::Request;

/// A bot, and the chat that messages go to which name none.
pub(crate) struct Telegram {
    endpoint: Endpoint,
    chat: Option<String>,
    limited: answers::Limited,
}

impl HttpService for Telegram {
    fn info() -> KindInfo {
        KindInfo {
            kind: "telegram",
            channel: Channel::Telegram,
            title: "Telegram bot",
            setup: "A bot from @BotFather. Write to it, or make it a member of the group, so that it may write back.",
            settings: vec![
                Setting::text("token", "The bot's token, from @BotFather.")
                    .required()
                    .secret_sent_to(&["apiUrl"])
                    .example("123456789:AAE…"),
                Setting::text("chatId", "Where messages go that name no chat as recipient.")
                    .example("-1001234567890"),
                Setting::url("apiUrl", "The Bot API server, if it is one's own.")
                    .or("https://api.telegram.org"),
                described_timeout("15s"),
            ],
            retry: RetryPolicy::exponential(),
            limits: Limits {
                concurrency: 8,
                per_second: Some(25.0),
            },
            on_ambiguous: OnAmbiguous::Resend,
        }
    }

    fn read(values: &Values, problems: &mut Problems) -> Option<Self> {
        let chat = values.text("chatId").map(|chat| chat.trim().to_owned());
        if chat
            .as_deref()
            .is_some_and(|c| domain::address::problem(Channel::Telegram, c).is_some())
        {
            problems.add(
                "chatId",
                "must be the number of a chat, or the @name of a channel",
            );
        }
        let sound = |c: char| c.is_ascii_alphanumeric() || ":_-".contains(c);
        let token = values.text("token")?.trim();
        if !token.chars().all(sound) {
            problems.add(
                "token",
                "must be a bot's token: a number, a colon, letters and digits",
            );
        }
        let url = below(
            &values.url("apiUrl", problems)?,
            &format!("bot{token}/sendMessage"),
        );
        let endpoint = Endpoint::at(&url, "apiUrl", problems)?;
        Some(Self {
            endpoint,
            chat,
            limited: answers::Limited::default(),
        })
    }

    fn problems(content: &Content) -> Vec<FieldError> {
        content_problems::<request::TelegramData>(content)
    }

    fn request(&self, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
        request::compose(self, sending)
    }

    fn understand(&self, sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
        answers::understand(&self.limited, sending, answer)
    }

    const OPT_OUTS: &'static [OptOut] = answers::OPT_OUTS;

    fn moved_to(&self, answer: &Answer) -> Option<String> {
        answers::moved_to(answer)
    }
}
