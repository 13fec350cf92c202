//! Proving that one holds the site's key without saying it: each answers the other's random number with a keyed digest.

use ring::{
    hmac,
    rand::{SecureRandom, SystemRandom},
};
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

/// Of a random number, and of what names a session.
const RANDOM_BYTES: usize = 32;

/// Whose answer it is: that of the one who was asked cannot be played back to the asker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Asker,
    Asked,
}

pub(super) fn random() -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; RANDOM_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| "this machine has no random numbers".to_owned())?;
    Ok(bytes)
}

fn said(side: Side, site: &str, asker: &[u8], asked: &[u8], id: Uuid) -> Vec<u8> {
    let side: &[u8] = match side {
        Side::Asker => b"waypost peer asks",
        Side::Asked => b"waypost peer answers",
    };
    let mut all = vec![];
    for part in [side, site.as_bytes(), asker, asked, id.as_bytes()] {
        all.extend((part.len() as u64).to_be_bytes());
        all.extend(part);
    }
    all
}

pub(super) fn prove(key: &SecretString, side: Side, site: &str, nonces: [&[u8]; 2], id: Uuid) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.expose_secret().as_bytes());
    hmac::sign(&key, &said(side, site, nonces[0], nonces[1], id))
        .as_ref()
        .to_vec()
}

/// Whether it was made with the same key, in a time that tells nothing.
pub(super) fn holds(
    key: &SecretString,
    side: Side,
    site: &str,
    nonces: [&[u8]; 2],
    id: Uuid,
    proof: &[u8],
) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.expose_secret().as_bytes());
    let enough = nonces.iter().all(|nonce| nonce.len() == RANDOM_BYTES);
    enough && hmac::verify(&key, &said(side, site, nonces[0], nonces[1], id), proof).is_ok()
}

/// Tells settings apart, secrets among them, without telling what they are.
pub fn digest(key: &SecretString, settings: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.expose_secret().as_bytes());
    let mut said = b"waypost peer target".to_vec();
    said.extend(settings.as_bytes());
    hmac::sign(&key, &said).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_its_key_its_side_and_its_numbers_and_for_nothing_else() {
        let (key, other) = (SecretString::from("wps_1"), SecretString::from("wps_2"));
        let (asker, asked, id) = (random().unwrap(), random().unwrap(), Uuid::new_v4());
        let nonces = [asker.as_slice(), asked.as_slice()];
        let proof = prove(&key, Side::Asker, "north", nonces, id);
        assert!(holds(&key, Side::Asker, "north", nonces, id, &proof));
        assert!(!holds(&other, Side::Asker, "north", nonces, id, &proof));
        assert!(!holds(&key, Side::Asked, "north", nonces, id, &proof));
        assert!(!holds(&key, Side::Asker, "south", nonces, id, &proof));
        let turned = [asked.as_slice(), asker.as_slice()];
        assert!(!holds(&key, Side::Asker, "north", turned, id, &proof));
        assert!(!holds(&key, Side::Asker, "north", nonces, Uuid::new_v4(), &proof));
        let empty = prove(&key, Side::Asker, "north", [b"", b""], id);
        assert!(
            !holds(&key, Side::Asker, "north", [b"", b""], id, &empty),
            "a number that is none proves nothing"
        );
    }
}
