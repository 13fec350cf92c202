//! Signatures as Standard Webhooks has them.

use standardwebhooks::Webhook;
use std::fmt;

const SHORTEST_TEXT: usize = 24;

/// Signs bodies with one secret.
pub(super) struct Signer(Webhook);

impl Signer {
    /// `whsec_` and base64, or any text that is long enough.
    pub fn new(secret: &str) -> Result<Self, String> {
        if secret.starts_with("whsec_") {
            return Webhook::new(secret)
                .map(Self)
                .map_err(|_| "must be base64 after whsec_".to_owned());
        }
        if secret.len() < SHORTEST_TEXT {
            return Err(format!(
                "must start with whsec_ or be at least {SHORTEST_TEXT} characters long"
            ));
        }
        Webhook::from_bytes(secret.as_bytes().to_vec())
            .map(Self)
            .map_err(|e| e.to_string())
    }

    /// The value of `webhook-signature`.
    pub fn sign(&self, id: &str, unix_seconds: i64, body: &[u8]) -> Result<String, String> {
        self.0.sign(id, unix_seconds, body).map_err(|e| e.to_string())
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_specification() {
        let signer = Signer::new("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").unwrap();
        let signature = signer.sign(
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            1_649_367_553,
            br#"{"email":"test@example.com","username":"test_user"}"#,
        );
        assert_eq!(
            signature.unwrap(),
            "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
        );
    }
}
