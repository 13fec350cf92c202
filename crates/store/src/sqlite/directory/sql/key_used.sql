update api_keys set last_used_at = ?2 where key_id = ?1
