//! Addresses of recipients, checked where they are entered: what no far end could take is refused while somebody is there
//! to hear it.

use crate::Channel;

/// Why a message of this type cannot go to this address; none if it can be tried.
pub fn problem(channel: Channel, address: &str) -> Option<String> {
    match channel {
        Channel::Email => mailbox(address)
            .is_none()
            .then(|| "must be one e-mail address, like ops@example.com".into()),
        Channel::Sms | Channel::WhatsApp => (!is_phone_number(address))
            .then(|| "must be a phone number with country code, like +491511234567".into()),
        Channel::Ntfy => {
            (!is_topic(address)).then(|| "must be a topic of 1 to 64 letters, digits, '-' and '_'".into())
        }
        Channel::Telegram => {
            (!is_chat(address)).then(|| "must be the number of a chat, or the @name of a channel".into())
        }
        Channel::Pushover => {
            (!is_pushover_key(address)).then(|| "must be a user or group key of 30 letters and digits".into())
        }
        Channel::Pushbullet => (!is_pushbullet_target(address))
            .then(|| "must be an e-mail address, a device's iden, or a #channel".into()),
        other if !other.takes_recipients() => Some(no_recipients(other)),
        _ => None,
    }
}

/// What is said where somebody is named for a type that goes to whom the provider's settings say.
pub fn no_recipients(channel: Channel) -> String {
    format!("type {channel} has no recipients: its provider's settings say where it goes")
}

/// The local part and the domain of a mail address that a command can carry safely. The domain may have letters of any
/// script; whether it exists is for the far end to say.
pub fn mailbox(address: &str) -> Option<(&str, &str)> {
    let unsafe_in_commands = |c: char| c.is_control() || c.is_whitespace() || "<>,;\\\"".contains(c);
    if address.len() > 320 || address.contains(unsafe_in_commands) {
        return None;
    }
    let (local, domain) = address.rsplit_once('@')?;
    if local.is_empty() || local.contains('@') || domain.is_empty() || domain.starts_with('.') {
        return None;
    }
    let sound = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-._[]:".contains(c);
    domain.chars().all(sound).then_some((local, domain))
}

/// E.164: a plus, and at most 15 digits, here at least 7, that do not begin with 0.
fn is_phone_number(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    (7..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0')
}

fn is_chat(text: &str) -> bool {
    let sound = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    match text.strip_prefix('@') {
        Some(name) => (4..=32).contains(&name.len()) && name.bytes().all(sound),
        None => text.parse::<i64>().is_ok_and(|chat| chat != 0),
    }
}

fn is_pushover_key(text: &str) -> bool {
    text.len() == 30 && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_pushbullet_target(text: &str) -> bool {
    let sound = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let name = text.strip_prefix('#').unwrap_or(text);
    match text.contains('@') {
        true => mailbox(text).is_some(),
        false => (1..=100).contains(&name.len()) && name.bytes().all(sound),
    }
}

fn is_topic(text: &str) -> bool {
    let sound = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_far_end_could_take_is_refused_by_the_type_it_is_for() {
        for (channel, address, fine) in [
            (Channel::Email, "ops@example.com", true),
            (Channel::Email, "jörg@bücher.example", true),
            (Channel::Email, "o'neil+x@[127.0.0.1]", true),
            (Channel::Email, "rubbish", false),
            (Channel::Email, "a@x.example, b@x.example", false),
            (Channel::Email, "a@x.example,b@x.example", false),
            (Channel::Email, "Ops <ops@example.com>", false),
            (Channel::Email, "a@", false),
            (Channel::Email, "+491511234567", false),
            (Channel::Sms, "+491511234567", true),
            (Channel::Sms, "01511234567", false),
            (Channel::Sms, "+49 151 1234567", false),
            (Channel::WhatsApp, "ops@example.com", false),
            (Channel::Webhook, "https://example.com", false),
            (Channel::Ntfy, "plant-7_alarms", true),
            (Channel::Ntfy, "plant 7", false),
            (Channel::Telegram, "-100123", true),
            (Channel::Telegram, "@plant_7", true),
            (Channel::Telegram, "plant 7", false),
            (Channel::Pushover, "uQiRzpo4DXghDmr9QzzfQu27cmVRsG", true),
            (Channel::Pushover, "me", false),
            (Channel::Pushbullet, "ops@example.com", true),
            (Channel::Pushbullet, "#plant-7", true),
            (Channel::Pushbullet, "ujpah72o0sjAoRtnM0jc", true),
            (Channel::Pushbullet, "a b", false),
            (Channel::Capture, "anybody", true),
        ] {
            assert_eq!(problem(channel, address).is_none(), fine, "{channel} {address}");
        }
    }
}
