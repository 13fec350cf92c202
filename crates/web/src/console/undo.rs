//! What somebody just took away, on its way to the page that offers to put it back.
//!
//! It stands in the address of that page, sealed: nobody can make an address whose page offers to put back what was never
//! there. Always true: it opens for the person who took it away, at the place they took it from, for [`OFFERED_FOR`].

use super::guard::Signed;
use central::secrets::{Place, Sealer};
use domain::{ProviderId, TenantId, Timestamp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::time::Duration;

/// How long it can be put back by one press.
const OFFERED_FOR: Duration = Duration::from_secs(600);

#[derive(Serialize, Deserialize)]
struct Taken<T> {
    what: T,
    until: i64,
}

/// Who took it away, from which page.
#[derive(Debug, Clone, Copy)]
pub struct Taker<'a> {
    pub tenant: TenantId,
    pub user: i64,
    pub place: &'a str,
}

impl<'a> Taker<'a> {
    pub fn new(signed: &Signed, place: &'a str) -> Self {
        Self {
            tenant: signed.caller.tenant,
            user: signed.user.id.0,
            place,
        }
    }

    pub fn seal<T: Serialize>(self, sealer: &Sealer, what: T, now: Timestamp) -> Option<String> {
        let until = (now + OFFERED_FOR).as_millis();
        let text = serde_json::to_string(&Taken { what, until }).ok()?;
        Some(self.sealed_for(|place| sealer.seal(place, &text)))
    }

    pub fn open<T: DeserializeOwned>(self, sealer: &Sealer, sealed: &str, now: Timestamp) -> Option<T> {
        let text = self.sealed_for(|place| sealer.open(place, sealed)).ok()?;
        let taken: Taken<T> = serde_json::from_str(&text).ok()?;
        (now.as_millis() < taken.until).then_some(taken.what)
    }

    fn sealed_for<R>(self, work: impl FnOnce(Place<'_>) -> R) -> R {
        let (console, setting) = (
            ProviderId::new("console"),
            format!("undo {} {}", self.user, self.place),
        );
        work(Place {
            tenant: self.tenant,
            provider: &console,
            setting: &setting,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_away_is_offered_to_who_took_it_at_its_place_for_a_while() {
        let sealer = Sealer::ephemeral();
        let (made, ours) = (
            Timestamp::from_millis(1_000),
            Taker {
                tenant: TenantId::DEFAULT,
                user: 7,
                place: "/lists/ops",
            },
        );
        let sealed = ours.seal(&sealer, "anna@example.com".to_owned(), made).unwrap();
        let open = |taker: Taker<'_>, at| taker.open::<String>(&sealer, &sealed, at);
        assert_eq!(open(ours, made).as_deref(), Some("anna@example.com"));
        assert_eq!(open(ours, made + OFFERED_FOR), None);
        for other in [
            Taker { user: 8, ..ours },
            Taker {
                place: "/lists/night",
                ..ours
            },
            Taker {
                tenant: TenantId(2),
                ..ours
            },
        ] {
            assert_eq!(open(other, made), None, "{other:?}");
        }
        assert_eq!(ours.open::<String>(&sealer, "anna@example.com", made), None);
    }
}
