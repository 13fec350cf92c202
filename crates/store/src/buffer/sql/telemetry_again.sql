update telemetry set heard_at = null
where seq in (select seq from telemetry where heard_at is not null order by heard_at limit ?1)
returning coalesce(octet_length(body_json), 0)
