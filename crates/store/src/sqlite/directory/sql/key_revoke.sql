update api_keys set revoked_at = ?3
where tenant = ?1 and key_id = ?2 and revoked_at is null
returning name
