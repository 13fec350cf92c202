-- What is said twice counts once.
update telemetry set heard_at = ?2 where seq = ?1 and heard_at is null
returning coalesce(octet_length(body_json), 0)
