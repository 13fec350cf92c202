//! Error codes of central and of a site's local API: one set.

#[test]
fn a_code_means_at_a_site_what_it_means_at_central() {
    let mut own = vec![];
    for (code, status) in site::api::CODES {
        let central = web::problem::Code::ALL.iter().find(|c| c.as_str() == *code);
        match central {
            Some(central) => assert_eq!(central.status().as_u16(), status.as_u16(), "{code}"),
            None => own.push(*code),
        }
    }
    let documented = [
        "permanent_failure",
        "no_room",
        "stopping",
        "central_unreachable",
        "standby",
        "outcome_unknown",
        "handover_refused",
    ];
    assert_eq!(own, documented);
    let docs = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sites.md"));
    for (code, _) in site::api::CODES {
        assert!(
            docs.contains(&format!("`{code}`")),
            "docs/sites.md does not name {code}"
        );
    }
}
