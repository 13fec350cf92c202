select count(*) from telemetry where heard_at is null
