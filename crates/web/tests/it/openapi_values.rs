//! What a parameter may be, so that a client can be written from the document alone.

use crate::openapi::document;
use domain::{AuditKind, AuditStatus};
use serde_json::{Value, json};

#[test]
fn the_filters_of_the_audit_log_name_every_value_they_take() {
    let document = document();
    let params = document["paths"]["/api/audit"]["get"]["parameters"]
        .as_array()
        .unwrap();
    let values = |name: &str| -> &Value {
        let param = params.iter().find(|param| param["name"] == name).unwrap();
        &param["schema"]["enum"]
    };
    let kinds: Vec<_> = AuditKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(values("kind"), &json!(kinds));
    let statuses: Vec<_> = AuditStatus::ALL.iter().map(|status| status.as_str()).collect();
    assert_eq!(values("status"), &json!(statuses));
}
