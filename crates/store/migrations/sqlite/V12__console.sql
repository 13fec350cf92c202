-- What people who look after the outbox keep and ask for. The SQLite twin of migrations/postgres.

-- Views of the list of notifications that a user comes back to.
create table saved_filters (
  user_id integer not null references users,
  tenant integer not null references tenants,
  name text not null check (length(name) between 1 and 100),
  query text not null check (length(query) <= 4000),
  primary key (user_id, tenant, name)
) without rowid;

alter table api_keys add column last_used_at integer;

-- More actions, a reason, and an end that somebody ordered. SQLite cannot change a check.
create table jobs_of_all_kinds (
  job_id blob primary key,
  tenant integer not null references tenants,
  action text not null check (action in ('retry','discard','cancel','resend')),
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
insert into jobs_of_all_kinds (
  job_id, tenant, action, filter, actor, total, created_at, done, skipped, cursor, finished, error, owner, owner_until
)
select job_id, tenant, action, filter, actor, total, created_at, done, skipped, cursor, finished, error, owner, owner_until
from jobs;
drop table jobs;
alter table jobs_of_all_kinds rename to jobs;
create index jobs_open on jobs (created_at) where not finished;
create index jobs_ended on jobs (created_at) where finished;
create index jobs_by_tenant on jobs (tenant, created_at);
