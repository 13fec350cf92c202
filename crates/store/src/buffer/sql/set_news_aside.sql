-- Below zero: what has a place above it is a message.
insert into unreadable (seq, set_aside_at, why, target, payload_json)
select -seq, ?2, ?3, 'news for central', body_json from telemetry where seq = ?1
on conflict do nothing
