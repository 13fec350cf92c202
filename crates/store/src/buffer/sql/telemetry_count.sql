select count(*) from telemetry
