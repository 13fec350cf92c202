-- Too much news for a central that does not come back: the oldest goes first.
delete from telemetry where seq in (select seq from telemetry where heard_at is null order by seq limit ?1)
returning coalesce(octet_length(body_json), 0)
