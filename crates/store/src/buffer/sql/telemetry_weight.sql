select coalesce(octet_length(body_json), 0) as bytes, heard_at is not null as heard from telemetry where seq = ?1
