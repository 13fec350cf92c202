insert into due (seq, tenant, lane, site, waiting_since, due_at, supersede_key, expires_at)
values (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)
