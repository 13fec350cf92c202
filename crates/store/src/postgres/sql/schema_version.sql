select coalesce(max(version), 0)::bigint from refinery_schema_history
