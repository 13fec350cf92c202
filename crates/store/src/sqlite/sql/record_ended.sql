-- The fence: who lost the lease removes nothing.
delete from due
where seq = ?1 and token = ?2
returning seq, tenant, site, lane, waiting_since, generation, attempts, last_attempt_at
