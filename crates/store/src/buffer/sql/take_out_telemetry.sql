delete from telemetry where seq = ?1
