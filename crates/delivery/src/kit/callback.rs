//! Reading callbacks: signatures in constant time, forms, and what stands in the address.

use crate::{
    http::Meaning,
    receipt::{Callback, CallbackRefused, Correlation, REFERENCE_PARAMETER, Receipt, ReceiptState},
    redact::{cut, percent_encoded},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use url::Url;

/// The most that is kept of what a service says about a failure, in bytes.
const MAX_RECEIPT_DETAIL_BYTES: usize = 500;
const MAX_RECEIPT_ID_BYTES: usize = 200;

impl Callback<'_> {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A parameter of the address that was called.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let url = Url::parse(self.url).ok()?;
        let found = url.query_pairs().find(|(known, _)| known == name)?;
        Some(found.1.into_owned())
    }

    /// What we put into the address for the service to repeat.
    pub(crate) fn reference(&self) -> Option<Correlation> {
        self.parameter(REFERENCE_PARAMETER)?.parse().ok()
    }

    /// The fields of a form, as they were sent.
    pub(crate) fn form(&self) -> Vec<(String, String)> {
        url::form_urlencoded::parse(self.body)
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect()
    }

    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, CallbackRefused> {
        serde_json::from_slice(self.body).map_err(|fault| not_json(&fault))
    }

    /// `sha256=<hex>` of the raw body, under any of these headers.
    pub(crate) fn is_signed_sha256(&self, headers: &[&str], secret: &str) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let given = headers.iter().find_map(|name| self.header(name));
        let tag = given.and_then(|value| from_hex(value.trim().strip_prefix("sha256=")?));
        tag.is_some_and(|tag| hmac::verify(&key, self.body, &tag).is_ok())
    }

    /// Base64 of the address and the form's fields in the order of their names.
    pub(crate) fn is_signed_sha1_with_url(&self, header: &str, secret: &str) -> bool {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret.as_bytes());
        let mut fields = self.form();
        fields.sort();
        let signed = fields
            .into_iter()
            .fold(self.url.to_owned(), |text, (name, value)| text + &name + &value);
        let given = self.header(header);
        let tag = given.and_then(|value| STANDARD.decode(value.trim()).ok());
        tag.is_some_and(|tag| hmac::verify(&key, signed.as_bytes(), &tag).is_ok())
    }
}

/// Where it broke off or went wrong, without a word of what was sent: it may be what somebody wrote to somebody.
pub(crate) fn not_json(fault: &serde_json::Error) -> CallbackRefused {
    let words = format!(
        "no JSON of its shape, at line {} column {}",
        fault.line(),
        fault.column()
    );
    CallbackRefused::Unreadable(words)
}

/// Whether two secrets are the same, in a time that does not tell how much of them is.
pub(crate) fn is_same_secret(known: &str, given: &str) -> bool {
    let key = |text: &str| hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
    let tag = hmac::sign(&key(given), b"same");
    hmac::verify(&key(known), b"same", tag.as_ref()).is_ok()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| (*byte as char).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// An address that carries a correlation, for services that repeat nothing else.
pub(crate) fn with_reference(callback_url: &str, reference: &str) -> String {
    let joint = if callback_url.contains('?') { '&' } else { '?' };
    format!(
        "{callback_url}{joint}{REFERENCE_PARAMETER}={}",
        percent_encoded(reference)
    )
}

/// A receipt as services tell of it: about this message, in this state, failed with this code and these words.
#[derive(Debug, Default)]
pub(crate) struct DeliveryReport<'a> {
    pub reference: Option<&'a str>,
    pub message_id: Option<&'a str>,
    pub recipient: Option<&'a str>,
    pub code: Option<String>,
    pub words: Option<&'a str>,
}

impl DeliveryReport<'_> {
    /// `meaning` is what the service's own code stands for.
    pub fn receipt(self, state: ReceiptState, meaning: Option<Meaning>) -> Receipt {
        let failed = state == ReceiptState::Failed;
        let kept = |text: &str, bytes| Some(cut(text, bytes).to_owned()).filter(|text| !text.is_empty());
        let id = |text: Option<&str>| text.and_then(|text| kept(text, MAX_RECEIPT_ID_BYTES));
        let meaning = meaning.unwrap_or(Meaning::unknown());
        Receipt {
            correlation: self.reference.and_then(|text| text.parse().ok()),
            provider_message_id: id(self.message_id),
            recipient: id(self.recipient),
            code: failed.then(|| meaning.code().to_owned()),
            provider_code: id(self.code.as_deref()).filter(|_| failed),
            detail: self
                .words
                .and_then(|text| kept(text, MAX_RECEIPT_DETAIL_BYTES))
                .filter(|_| failed),
            hold: meaning.hold().filter(|_| failed),
            ..Receipt::new(state)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_reads_in_either_case_and_nothing_else_is_hex() {
        assert_eq!(from_hex("00fFa0"), Some(vec![0, 255, 160]));
        for bad in ["0", "zz", "0g", "ä"] {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_secret_is_the_same_only_as_itself() {
        assert!(is_same_secret("abc", "abc"));
        for other in ["", "ab", "abcd", "abd"] {
            assert!(!is_same_secret("abc", other));
        }
    }

    #[test]
    fn a_reference_survives_the_address() {
        let reference = "0198c0de-0000-7000-8000-000000000001.2.+919876543210";
        let url = with_reference("https://waypost.example/callbacks/sms/abc", reference);
        let callback = Callback {
            method: &hyper::Method::POST,
            url: &url,
            headers: &hyper::HeaderMap::new(),
            body: b"",
        };
        assert_eq!(callback.reference().unwrap().to_string(), reference);
    }
}
