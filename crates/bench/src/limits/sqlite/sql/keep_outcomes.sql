-- ?1 first seq, ?2 last, ?3 lane.
insert into outcome (
  seq, tenant, lane, status, at, waiting_since, generation, attempts, last_attempt_at, resolved_targets,
  attempt_token, attempt_target, attempt_duration_ms
)
select seq, tenant, ?3, 'Delivered', created_at + 5, created_at, 0, 1, created_at + 4, recipients, seq, 'noop', 1
from notifications
where seq between ?1 and ?2
