insert into telemetry (body_json) values (?1)
