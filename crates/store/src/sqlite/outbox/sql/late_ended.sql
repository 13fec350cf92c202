-- A late success ends a row that waits, whoever has claimed it meanwhile.
delete from due
where seq = ?1
returning seq, tenant, site, lane, waiting_since, generation, attempts, last_attempt_at, code, provider_code, error
