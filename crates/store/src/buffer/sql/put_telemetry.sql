insert or replace into telemetry (
  seq, body_json, heard_at
) values (?1, ?2, ?3)
