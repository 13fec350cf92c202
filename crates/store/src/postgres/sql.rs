//! Every statement, by the name of its file. The only text in here is what takes no parameters.

macro_rules! statements {
    ($($name:ident = $file:literal),* $(,)?) => {
        $(pub(super) const $name: &str = include_str!(concat!("sql/", $file, ".sql"));)*

        /// All of them, so that a test can prepare each against a migrated schema.
        pub const ALL: &[(&str, &str)] = &[$(($file, $name)),*];
    };
}

statements! {
    ALL_PROVIDERS = "all_providers",
    AUDIT_INSERT = "audit_insert",
    CLAIM_DUE = "claim_due",
    CLAIM_KNOWN = "claim_known",
    CLAIM_PROBE = "claim_probe",
    DIRECTORY_BUMP = "directory_bump",
    DIRECTORY_VERSION = "directory_version",
    HOLD_END = "hold_end",
    HOLD_PROBE_FAILED = "hold_probe_failed",
    HOLD_SET = "hold_set",
    INGEST = "ingest",
    INGEST_KNOWN = "ingest_known",
    INGEST_SUPERSEDE = "ingest_supersede",
    INGEST_SUPERSEDE_LOCK = "ingest_supersede_lock",
    KEY_BY_HASH = "key_by_hash",
    KEY_CREATE = "key_create",
    KEY_REVOKE = "key_revoke",
    KEYS = "keys",
    LANE = "lane",
    LANE_CONFIGURED = "lane_configured",
    LANE_FIND = "lane_find",
    LANE_MAKE = "lane_make",
    LANE_WAITS = "lane_waits",
    LANES_WAITING = "lanes_waiting",
    LATE_DELIVERED = "late_delivered",
    LATE_ENDED = "late_ended",
    LATE_PLACE = "late_place",
    LATE_WAITING = "late_waiting",
    LIST_BY_NAME = "list_by_name",
    LIST_DELETE = "list_delete",
    LIST_PUT = "list_put",
    LISTS = "lists",
    LOCK_SCHEMA = "lock_schema",
    NOTIFY = "notify",
    NOW = "now",
    OWN_LANE = "own_lane",
    PAUSE_LANE = "pause_lane",
    PING = "ping",
    PROVIDER = "provider",
    PROVIDER_DELETE = "provider_delete",
    PROVIDER_OF_LANE = "provider_of_lane",
    PROVIDER_PUT = "provider_put",
    PROVIDER_RESEAL = "provider_reseal",
    PROVIDERS = "providers",
    RECORD_ENDED = "record_ended",
    RECORD_KNOWN = "record_known",
    RECORD_RECIPIENT = "record_recipient",
    RECORD_RETRY = "record_retry",
    RECORD_WAIT = "record_wait",
    RELEASE = "release",
    RENEW = "renew",
    SCHEMA_EXISTS = "schema_exists",
    SCHEMA_IS_EMPTY = "schema_is_empty",
    SCHEMA_VERSION = "schema_version",
    TENANT_BY_NAME = "tenant_by_name",
    TENANT_CREATE = "tenant_create",
    TENANTS = "tenants",
    UNROUTED_CHANNEL = "unrouted_channel",
}

/// `schema` was checked to be a plain name when the URL was read.
pub(super) fn create_schema(schema: &str) -> String {
    format!("create schema {schema}")
}

/// `channel` is made from the schema's name.
pub(super) fn listen(channel: &str) -> String {
    format!("listen {channel}")
}
