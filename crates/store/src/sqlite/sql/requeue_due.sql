insert into due (seq, tenant, lane, site, waiting_since, due_at, generation, last_attempt_at, supersede_key)
select seq, tenant, ?2, site, ?3, ?3, ?4, ?5, supersede_key from notifications where seq = ?1
