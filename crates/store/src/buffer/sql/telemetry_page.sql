select seq, body_json from telemetry where heard_at is null order by seq limit ?1
