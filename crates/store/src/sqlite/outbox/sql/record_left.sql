-- The fence: who lost the lease finds nothing. Asked before the row is deleted, because `returning` makes and drops a
-- table of its own for every row.
select seq, tenant, site, lane, waiting_since, generation, attempts, last_attempt_at, code, provider_code, error
from due
where seq = ?1 and token = ?2
