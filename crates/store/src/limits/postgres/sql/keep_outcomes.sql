-- $1 first seq, $2 last.
insert into waypost.outcome (
  seq, tenant, lane, status, at, waiting_since, generation, attempts, last_attempt_at, resolved_targets
)
select seq, tenant, lane, 'Delivered', created_at + interval '5 milliseconds', created_at, 0, 1,
  created_at + interval '4 milliseconds', recipients
from waypost.notifications
where seq between $1::bigint and $2::bigint
