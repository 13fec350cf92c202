-- ?1 first seq, ?2 last, ?3 lane.
insert into outcome (
  seq, tenant, lane, status, at, waiting_since, generation, attempts, last_attempt_at, resolved_targets
)
select seq, tenant, ?3, 'Delivered', created_at + 5, created_at, 0, 1, created_at + 4, recipients
from notifications
where seq between ?1 and ?2
