//! Machines that are not the other one of the site are turned away and named in the log of the machine they asked.

use crate::{
    logged::Logged,
    pair_world::{a_pair, notify, world},
};
use domain::{
    SiteId,
    pair::{History, Node, Role},
};
use link::peer::{self, About, PeerOptions};
use secrecy::SecretString;
use uuid::Uuid;

fn a_stranger() -> Node {
    Node {
        id: Uuid::new_v4(),
        role: Role::Standby,
        history: History::default(),
        position: 0,
        floor: 0,
        stale: false,
        joined: None,
        vouches: None,
    }
}

#[tokio::test]
async fn a_machine_with_another_key_or_of_another_site_is_named_in_the_log_and_the_active_one_goes_on() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let (logged, _guard) = Logged::start();
    let key = a.machine.key;
    for (site, key, says) in [
        ("north", "wps_of_south", "does not have this site's key"),
        ("south", key, "belongs to site"),
    ] {
        let address = format!("http://{}", a.machine.listen).parse().unwrap();
        let options = PeerOptions::new(SiteId::new(site), SecretString::from(key), address);
        for _ in 0..3 {
            let refused = peer::connect(&options, About::default(), a_stranger()).await;
            assert!(refused.is_err());
        }
        let lines = logged.with("was turned away");
        let named: Vec<_> = lines.iter().filter(|line| line.contains(says)).collect();
        assert_eq!(named.len(), 1, "one line for all of them: {lines:?}");
        assert!(named[0].contains("127.0.0.1"), "{lines:?}");
    }
    let ids = notify(&a, 2).await;
    b.holds(ids.len() as u64).await;
    a.end().await;
    b.end().await;
}
