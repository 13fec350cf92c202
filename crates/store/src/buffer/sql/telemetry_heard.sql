update telemetry set heard_at = ?2 where seq = ?1
