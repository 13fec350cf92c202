//! The statements that no single job has for itself: the schema, the clock, the signals.

statements!(
    lock_due,
    lock_schema,
    notify,
    now,
    schema_exists,
    schema_is_empty,
    schema_version,
    server_version,
);

/// `schema` was checked to be a plain name when the URL was read.
pub(super) fn create_schema(schema: &str) -> String {
    format!("create schema {schema}")
}

/// `channel` is made from the schema's name.
pub(super) fn listen(channel: &str) -> String {
    format!("listen {channel}")
}
