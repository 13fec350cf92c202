update api_keys set revoked_at = ?2 where tenant = ?1 and revoked_at is null
