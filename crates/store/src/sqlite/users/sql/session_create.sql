insert into sessions (hash, user_id, tenant, csrf, created_at, expires_at) values (?1, ?2, ?3, ?4, ?5, ?6)
