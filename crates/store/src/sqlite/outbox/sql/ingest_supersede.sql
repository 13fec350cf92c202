-- A row under a live lease is being sent right now and is left alone; one whose lease ran out is free.
delete from due
where tenant = ?1 and supersede_key = ?2 and (token is null or leased_until is null or leased_until <= ?3)
returning seq, tenant, site, lane, waiting_since, generation, attempts, last_attempt_at, code, provider_code, error,
  -- for whoever watches
  (select n.id from notifications n where n.seq = due.seq) as id
