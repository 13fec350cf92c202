insert into due (seq, tenant, lane, site, waiting_since, due_at, generation, last_attempt_at, supersede_key, expires_at)
select seq, tenant, ?2, site, ?3, ?3, ?4, ?5, supersede_key, expires_at from notifications where seq = ?1
