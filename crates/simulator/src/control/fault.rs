//! A fault as somebody asks for it while the far ends run, and the rules that it becomes.

use crate::{
    http::{HttpAt, HttpRule},
    smtp::{Phase, SmtpRule},
};
use serde_json::{Map, Value};
use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

/// What goes wrong, where, and how often.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// `smtp`, a service like `telegram`, `webhook`, or the beginning of a path; none: everything by HTTP.
    pub service: Option<String>,
    pub what: What,
    pub delay: Duration,
    /// From 0 to 1.
    pub chance: f64,
    pub times: Option<u32>,
    pub after: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// Only the delay.
    Slow,
    Status {
        code: u16,
        retry_after: Option<u64>,
        body: String,
    },
    /// More than so many a second are answered with 429.
    Rate(f64),
    /// A reply of the mail catcher to the message.
    Reply(String),
    /// Taken, then the connection is closed without an answer.
    Cut,
    /// Taken, and no answer ever comes.
    Stall,
    /// Taken, and the connection is closed in the middle of the answer's body.
    CutBody,
}

/// The longest delay that can be asked for, in milliseconds.
const MAX_DELAY_MS: f64 = 600_000.0;

impl Fault {
    /// Reads `{service, status, retryAfter, body, reply, rate, cut, cutBody, stall, delayMs, chance, times, after}`; numbers may be
    /// texts, as forms send them, and what is empty counts as absent.
    pub fn read(mut given: Map<String, Value>) -> Result<Self, String> {
        given.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
        let mut number = |name: &str, least: f64, most: f64| take_number(&mut given, name, least, most);
        let status = number("status", 200.0, 599.0)?;
        let retry_after = number("retryAfter", 0.0, 1e9)?;
        let rate = number("rate", 0.001, 1e6)?;
        let delay = number("delayMs", 0.0, MAX_DELAY_MS)?.unwrap_or(0.0);
        let chance = number("chance", 0.0, 1.0)?.unwrap_or(1.0);
        let (times, after) = (number("times", 0.0, 1e9)?, number("after", 0.0, 1e9)?);
        let text = |given: &mut Map<String, Value>, name: &str| match given.remove(name) {
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("{name} must be text")),
            None => Ok(None),
        };
        let service = text(&mut given, "service")?;
        let (body, reply) = (text(&mut given, "body")?, text(&mut given, "reply")?);
        let mut yes = |name: &str| {
            given
                .remove(name)
                .is_some_and(|value| value != Value::Bool(false) && value != "false")
        };
        let (cut, cut_body, stall) = (yes("cut"), yes("cutBody"), yes("stall"));
        if let Some(name) = given.keys().next() {
            return Err(format!("{name} is nothing that can be asked for"));
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded where they are read"
        )]
        let what = match (cut, stall, reply, rate, status) {
            (true, ..) => What::Cut,
            (_, true, ..) => What::Stall,
            _ if cut_body => What::CutBody,
            (_, _, Some(reply), ..) => What::Reply(reply),
            (_, _, _, Some(rate), _) => What::Rate(rate),
            (_, _, _, _, Some(code)) => What::Status {
                code: code as u16,
                retry_after: retry_after.map(|seconds| seconds as u64),
                body: body.unwrap_or_default(),
            },
            _ if delay > 0.0 => What::Slow,
            _ => {
                return Err(
                    "say what goes wrong: status, reply, rate, cut, cutBody, stall or delayMs".into(),
                );
            }
        };
        if matches!(what, What::Reply(_)) != (service.as_deref() == Some("smtp"))
            && matches!(
                what,
                What::Reply(_) | What::Status { .. } | What::Rate(_) | What::CutBody
            )
        {
            return Err("a reply is for service smtp; status, rate and cutBody are for the others".into());
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded where they are read"
        )]
        Ok(Self {
            service,
            what,
            delay: Duration::from_millis(delay as u64),
            chance,
            times: times.map(|n| n as u32),
            after: after.unwrap_or(0.0) as u32,
        })
    }

    /// The rule for the mail catcher; none where the fault is not its.
    pub fn smtp_rule(&self) -> Option<SmtpRule> {
        if self.service.as_deref() != Some("smtp") {
            return None;
        }
        let rule = SmtpRule::at(Phase::AfterDot);
        let rule = match &self.what {
            What::Reply(reply) => rule.reply(reply),
            What::Cut => rule.cut(),
            What::Stall => rule.stall(),
            What::Slow | What::Status { .. } | What::Rate(_) | What::CutBody => rule,
        };
        let rule = rule.delayed(self.delay).chance(self.chance).after(self.after);
        Some(match self.times {
            Some(n) => rule.times(n),
            None => rule,
        })
    }

    pub fn http_rule(&self) -> HttpRule {
        let rule = match &self.what {
            What::Slow | What::Reply(_) => HttpRule::usual(),
            What::Status {
                code,
                retry_after,
                body,
            } => {
                let rule = HttpRule::status(*code).body(body);
                match retry_after {
                    Some(seconds) => rule.retry_after(&seconds.to_string()),
                    None => rule,
                }
            }
            What::Rate(_) => HttpRule::status(429).retry_after("1"),
            What::Cut => HttpRule::cut(),
            What::Stall => HttpRule::stall(),
            What::CutBody => HttpRule::break_off(),
        };
        let service = self.service.clone();
        let mut rule =
            rule.when(move |at: &HttpAt| service.as_deref().is_none_or(|wanted| is_for(at, wanted)));
        if let What::Rate(rate) = self.what {
            let bucket = Bucket::new(rate);
            rule = rule.when(move |_| !bucket.take());
        }
        let rule = rule.delayed(self.delay).chance(self.chance).after(self.after);
        match self.times {
            Some(n) => rule.times(n),
            None => rule,
        }
    }
}

pub(super) fn take_number(
    given: &mut Map<String, Value>,
    name: &str,
    least: f64,
    most: f64,
) -> Result<Option<f64>, String> {
    let Some(value) = given.remove(name) else {
        return Ok(None);
    };
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    let number = number.filter(|number| (least..=most).contains(number));
    number
        .map(Some)
        .ok_or_else(|| format!("{name} must be a number from {least} to {most}"))
}

fn is_for(at: &HttpAt, wanted: &str) -> bool {
    match wanted.strip_prefix('/') {
        Some(_) => at.path.starts_with(wanted),
        None if wanted == "webhook" => crate::services::of(&at.path).is_none(),
        None => crate::services::of(&at.path) == Some(wanted),
    }
}

/// So many a second, and as many at once.
struct Bucket {
    rate: f64,
    left: Mutex<(f64, Instant)>,
}

impl Bucket {
    fn new(rate: f64) -> Self {
        Self {
            rate,
            left: Mutex::new((rate.max(1.0), Instant::now())),
        }
    }

    fn take(&self) -> bool {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> bool {
        let mut held = self
            .left
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let (left, since) = *held;
        let gained = now.saturating_duration_since(since).as_secs_f64() * self.rate;
        let left = (left + gained).min(self.rate.max(1.0));
        let taken = left >= 1.0;
        *held = (if taken { left - 1.0 } else { left }, now);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Fault, String> {
        Fault::read(value.as_object().unwrap().clone())
    }

    #[test]
    fn a_fault_is_read_from_json_and_from_a_form_alike() {
        let json =
            read(json!({"service": "slack", "status": 429, "retryAfter": 30, "times": 2, "chance": 0.5}))
                .unwrap();
        let form = read(
            json!({"service": "slack", "status": "429", "retryAfter": "30", "times": "2", "chance": "0.5", "body": ""}),
        );
        assert_eq!(Ok(json), form);
        for (bad, why) in [
            (json!({}), "say what goes wrong"),
            (json!({"status": 700}), "status must be"),
            (json!({"status": 500, "colour": "red"}), "colour"),
            (json!({"service": "slack", "reply": "450 later"}), "service smtp"),
            (json!({"service": "smtp", "status": 500}), "service smtp"),
            (json!({"service": "smtp", "cutBody": true}), "service smtp"),
        ] {
            let error = read(bad).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_rate_lets_a_burst_of_a_second_through_and_no_more() {
        let bucket = Bucket::new(3.0);
        let start = Instant::now();
        for second in 0..3 {
            let now = start + Duration::from_secs(second);
            let passed = (0..10).filter(|_| bucket.take_at(now)).count();
            assert_eq!(passed, 3);
        }
    }
}
