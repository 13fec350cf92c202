update damage set acknowledged_at = ?1, acknowledged_by = ?2
where acknowledged_at is null and (?3 is null or seq = ?3)
