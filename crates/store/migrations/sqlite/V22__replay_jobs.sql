-- Replaying many at once. The SQLite twin of migrations/postgres. SQLite cannot change a check.
create table jobs_with_replay (
  job_id blob primary key,
  tenant integer not null references tenants,
  action text not null check (action in ('retry','discard','cancel','resend','replay')),
  filter text not null,
  actor text not null,
  total integer not null,
  created_at integer not null,
  reason text,
  stopped_by text,
  done integer not null default 0,
  skipped integer not null default 0,
  cursor text,
  finished integer not null default 0,
  error text,
  owner text,
  owner_until integer
);
insert into jobs_with_replay (
  job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error, owner,
  owner_until
)
select job_id, tenant, action, filter, actor, total, created_at, reason, stopped_by, done, skipped, cursor, finished, error, owner,
  owner_until
from jobs;
drop table jobs;
alter table jobs_with_replay rename to jobs;
create index jobs_open on jobs (created_at) where not finished;
create index jobs_ended on jobs (created_at) where finished;
create index jobs_by_tenant on jobs (tenant, created_at);

alter table schedules add column settled_at integer;
-- Only what may be replayed; publishing never touches them.
create index outbox_messages_stuck on outbox_messages (tenant, seq) where status in ('Failed', 'Deferred');
create index outbox_messages_stuck_of_all on outbox_messages (seq) where status in ('Failed', 'Deferred');
