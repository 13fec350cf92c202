select seq, octet_length(payload_json), ended_at from tombstones
where payload_json is not null and ended_at < ?1 order by ended_at, seq limit ?2
