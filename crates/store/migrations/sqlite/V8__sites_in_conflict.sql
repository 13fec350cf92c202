-- Which agent speaks for a site, and the last other one that came with the same id. The SQLite twin of
-- migrations/postgres.
alter table sites add column agent_buffer blob;
alter table sites add column agent_run blob;
alter table sites add column conflict_node text;
alter table sites add column conflict_peer text;
alter table sites add column conflict_version text;
alter table sites add column conflict_since integer;
alter table sites add column conflict_at integer;

-- Also notifications that were parked or given up at a site, and who did it. SQLite cannot change a check.
create table site_calls_and_notifications (
  call_id integer primary key autoincrement,
  tenant integer not null,
  site text not null,
  operation blob not null,
  revision integer not null,
  category text not null check (category in ('ExternalSystem','CachedDbWrite','Notification')),
  target text not null,
  summary text,
  status text not null check (status in ('Submitted','Retrying','Delivered','Parked','Failed','Discarded')),
  retry_count integer not null,
  error text,
  http_status integer,
  created_at integer not null,
  updated_at integer not null,
  heard_at integer not null,
  instance text,
  script text,
  node text,
  execution text,
  parent_execution text,
  actor text,
  unique (tenant, site, operation)
);
insert into site_calls_and_notifications (
  call_id, tenant, site, operation, revision, category, target, summary, status, retry_count, error, http_status,
  created_at, updated_at, heard_at, instance, script, node, execution, parent_execution
)
select
  call_id, tenant, site, operation, revision, category, target, summary, status, retry_count, error, http_status,
  created_at, updated_at, heard_at, instance, script, node, execution, parent_execution
from site_calls;
drop table site_calls;
alter table site_calls_and_notifications rename to site_calls;
create index site_calls_by_time on site_calls (tenant, created_at, call_id);
-- Only what has ended is ever purged.
create index site_calls_ended on site_calls (heard_at) where status in ('Delivered','Parked','Failed','Discarded');
