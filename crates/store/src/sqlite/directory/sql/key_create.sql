insert into api_keys (tenant, name, role, hash, created_at)
values (?1, ?2, ?3, ?4, ?5)
returning key_id, tenant, name, role, created_at, revoked_at, last_used_at
