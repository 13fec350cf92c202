delete from telemetry
where seq in (select seq from telemetry where heard_at is not null and heard_at < ?1 order by heard_at limit ?2)
returning coalesce(octet_length(body_json), 0)
