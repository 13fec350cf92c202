//! Tokens that another program has signed, one for each way of signing; and what may be wrong with one.

use super::*;
use serde_json::json;

#[derive(Deserialize)]
struct Signed {
    token: String,
    key: Key,
}

fn signed_by_others() -> Vec<Signed> {
    serde_json::from_str(include_str!("signed_by_others.json")).unwrap()
}

#[test]
fn every_way_of_signing_that_is_taken_is_understood() {
    let all = signed_by_others();
    assert_eq!(all.len(), 9);
    let keys: Vec<_> = all.iter().map(|one| one.key.clone()).collect();
    for Signed { token, key } in &all {
        let name = key.kid.as_deref().unwrap();
        assert_eq!(
            signed(token, std::slice::from_ref(key)).unwrap()["sub"],
            "7",
            "{name}"
        );
        assert_eq!(signed(token, &keys).unwrap()["sub"], "7", "{name} among others");
    }
}

#[test]
fn one_changed_letter_breaks_a_signature() {
    for Signed { token, key } in signed_by_others() {
        let other = URL_SAFE_NO_PAD.encode(r#"{"sub":"8"}"#);
        let parts: Vec<_> = token.split('.').collect();
        let changed = format!("{}.{other}.{}", parts[0], parts[2]);
        assert_eq!(signed(&changed, &[key]), Err(Distrust::NoSuchKey));
    }
}

#[test]
fn a_key_counts_only_for_its_own_kind_of_signature_and_its_own_use() {
    for Signed { token, key } in signed_by_others() {
        for wrong in [
            Key {
                kty: "oct".into(),
                ..key.clone()
            },
            Key {
                usage: Some("enc".into()),
                ..key.clone()
            },
            Key {
                alg: Some("HS256".into()),
                ..key.clone()
            },
            Key {
                kid: Some("another".into()),
                ..key.clone()
            },
        ] {
            assert_eq!(signed(&token, &[wrong]), Err(Distrust::NoSuchKey));
        }
    }
}

#[test]
fn tokens_without_a_signature_or_with_a_shared_secret_are_refused() {
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    for alg in ["none", "None", "HS256", ""] {
        let token = format!("{}.{}.", part(json!({ "alg": alg })), part(json!({ "sub": "7" })));
        let Err(Distrust::Because(why)) = signed(&token, &[]) else {
            panic!("{alg} was taken")
        };
        assert!(why.contains("not taken"), "{why}");
    }
    for rubbish in ["", ".", "..", "a.b", "a.b.c", "é.é.é"] {
        assert!(
            matches!(signed(rubbish, &[]), Err(Distrust::Because(_))),
            "{rubbish}"
        );
    }
}

#[test]
fn of_several_audiences_one_must_be_named_as_the_one_who_asked() {
    for (claims, ours) in [
        (json!({ "aud": "us" }), true),
        (json!({ "aud": ["us"] }), true),
        (json!({ "aud": ["us"], "azp": "us" }), true),
        (json!({ "aud": ["us", "them"], "azp": "us" }), true),
        (json!({ "aud": ["us", "them"] }), false),
        (json!({ "aud": ["us", "them"], "azp": "them" }), false),
        (json!({ "aud": "us", "azp": "them" }), false),
        (json!({ "aud": ["them"], "azp": "us" }), false),
        (json!({ "aud": [] }), false),
        (json!({ "aud": 7 }), false),
        (json!({}), false),
    ] {
        assert_eq!(is_for(&claims, "us"), ours, "{claims}");
    }
}
