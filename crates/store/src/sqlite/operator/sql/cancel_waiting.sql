-- Also a row that is being sent right now: its late success is added to the audit, the row stays Discarded.
delete from due
where seq = (select seq from notifications where tenant = ?1 and id = ?2)
returning seq, tenant, site, lane, waiting_since, generation, attempts, last_attempt_at, code, provider_code, error
