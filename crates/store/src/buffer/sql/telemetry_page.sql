select seq, body_json from telemetry order by seq limit ?1
