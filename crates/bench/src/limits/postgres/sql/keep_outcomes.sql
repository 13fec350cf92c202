-- $1 first seq, $2 last.
insert into waypost.outcome (
  seq, tenant, lane, status, at, waiting_since, generation, attempts, last_attempt_at, resolved_targets,
  attempt_token, attempt_target, attempt_duration_ms
)
select seq, tenant, lane, 'Delivered', created_at + interval '5 milliseconds', created_at, 0, 1,
  created_at + interval '4 milliseconds', recipients, seq, 'noop', 1
from waypost.notifications
where seq between $1::bigint and $2::bigint
