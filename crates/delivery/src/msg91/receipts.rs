//! What MSG91 tells later. Its callbacks are not signed: the secret in the address is all there is. A report names the request
//! and the number, and both have to fit what was sent; one without either cannot be believed to be about anything.

use super::answers;
use crate::{
    http::Meaning,
    kit::{DeliveryReport, not_json},
    opt_out::OptOut,
    receipt::{Callback, CallbackContent, CallbackRefused, Receipt, ReceiptState},
};
use domain::Scope;
use serde_json::Value;

/// On the national register of those who want no advertisements, which keeps only those from them; on the account's own list of
/// numbers that nothing is sent to.
pub(super) const OPT_OUTS: &[OptOut] = &[
    OptOut::topic("9"),
    OptOut::topic("ndnc"),
    OptOut::everything("17"),
    OptOut::everything("blocked"),
];

const NO_CORRELATION: &str = "a report names no requestId or no number; choose a webhook version that sends both (v2, v3 or the new one)";

/// A report lies in a field `data` of a form (v2), or is JSON: flat (v3), in a list (v4), or as its owner designed it.
pub(super) fn read(callback: &Callback<'_>) -> Result<CallbackContent, CallbackRefused> {
    let said: Value = match serde_json::from_slice(callback.body) {
        Ok(said) => said,
        Err(_) => {
            let form = callback.form();
            let data = form.iter().find(|(name, _)| name == "data");
            let text = data.map(|(_, text)| text.as_str()).unwrap_or_default();
            serde_json::from_str(text).map_err(|fault| not_json(&fault))?
        }
    };
    let mut reports = Reports::default();
    reports.read(&said, None);
    match (reports.receipts.is_empty(), reports.unrelated) {
        (true, true) => Err(CallbackRefused::Unreadable(NO_CORRELATION.into())),
        _ => Ok(CallbackContent::Receipts(reports.receipts)),
    }
}

#[derive(Default)]
struct Reports {
    receipts: Vec<Receipt>,
    /// There was one without a request or a number.
    unrelated: bool,
}

impl Reports {
    /// Lists, and objects that hold lists, are looked into one level after the other; `request` is that of the outer one.
    fn read(&mut self, said: &Value, request: Option<&str>) {
        match said {
            Value::Array(several) => several.iter().for_each(|one| self.read(one, request)),
            Value::Object(_) => {
                let request = text(said, &["requestId", "request_id"]).or(request);
                let inner = ["report", "data"].into_iter().filter_map(|name| said.get(name));
                let mut inner = inner
                    .filter(|value| value.is_array() || value.is_object())
                    .peekable();
                match inner.peek() {
                    Some(_) => inner.for_each(|value| self.read(value, request)),
                    None => self.one(said, request),
                }
            }
            _ => {}
        }
    }

    fn one(&mut self, report: &Value, request: Option<&str>) {
        let status = report.get("status").or_else(|| report.get("eventName"));
        let Some((state, code)) = status.and_then(state) else {
            return;
        };
        let number = text(report, &["number", "telNum", "mobile", "customerNumber"]);
        let (Some(request), Some(number)) = (request, number) else {
            self.unrelated = true;
            return;
        };
        let words = text(report, &["failedReason", "failureReason", "desc"]);
        let said =
            ["failedReason", "failureReason", "desc"].map(|name| text(report, &[name]).unwrap_or_default());
        let of_register = said.into_iter().find_map(register_code);
        let meaning = match (code.as_str(), of_register) {
            (_, Some((_, meaning))) => meaning,
            // On the register of those who want no advertisements; a number that the account has blocked.
            ("9" | "ndnc" | "17" | "blocked", None) => Meaning::recipient(),
            _ => Meaning::permanent(Scope::Recipient, "PROVIDER_ERROR"),
        };
        let code = of_register.map_or(code, |(own, _)| own.to_string());
        let told = DeliveryReport {
            reference: None,
            message_id: Some(request),
            recipient: Some(number),
            code: Some(code),
            words,
        };
        self.receipts.push(told.receipt(state, Some(meaning)));
    }
}

/// What the register said, where the words of a failure hold one of its codes: the status only says that it was rejected.
fn register_code(words: &str) -> Option<(u16, Meaning)> {
    let numbers = words.split(|c: char| !c.is_ascii_alphanumeric());
    let codes = numbers.filter_map(|number| number.parse::<u16>().ok());
    let known = codes.filter(|code| (600..=651).contains(code));
    known
        .filter_map(|code| Some((code, answers::by_code(code)?)))
        .next()
}

fn state(status: &Value) -> Option<(ReceiptState, String)> {
    let code = match status {
        Value::String(text) => text.trim().to_lowercase(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let state = match code.as_str() {
        "1" | "delivered" => ReceiptState::Delivered,
        "2" | "9" | "16" | "17" | "25" | "failed" | "rejected" | "ndnc" | "blocked" => ReceiptState::Failed,
        "sent" | "submitted" => ReceiptState::Accepted,
        _ => return None,
    };
    Some((state, code))
}

fn text<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    let found = names.iter().find_map(|name| value.get(name)?.as_str());
    found.map(str::trim).filter(|text| !text.is_empty())
}
