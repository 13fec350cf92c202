-- Sites that talk to central over the link, what they tell about their cached calls and writes, and which database
-- this is.

-- Minted once: a site that sees another value knows that it talks to another database.
insert into meta values ('database_id', replace(gen_random_uuid()::text, '-', ''));

create table sites (
  tenant integer not null references tenants,
  site text not null check (length(site) between 1 and 100),
  created_at timestamptz not null,
  -- Which node of central it is, or was last, connected to, and by which session; `session` is null while offline.
  central_node text,
  session uuid,
  connected_at timestamptz,
  last_contact_at timestamptz,
  offline_since timestamptz,
  offline_why text,
  agent_node text,
  agent_version text,
  peer text,
  report text,
  primary key (tenant, site)
);

-- One row per cached call or write of a site, as its latest news left it.
create table site_calls (
  call_id bigint generated always as identity primary key,
  tenant integer not null,
  site text not null,
  operation uuid not null,
  revision bigint not null,
  category text not null check (category in ('ExternalSystem','CachedDbWrite')),
  target text not null,
  summary text,
  status text not null check (status in ('Submitted','Retrying','Delivered','Parked','Failed','Discarded')),
  retry_count integer not null,
  error text,
  http_status integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  heard_at timestamptz not null,
  instance text,
  script text,
  node text,
  execution text,
  parent_execution text,
  unique (tenant, site, operation)
);
create index site_calls_by_time on site_calls (tenant, created_at, call_id);
-- Only what has ended is ever purged.
create index site_calls_ended on site_calls (heard_at) where status in ('Delivered','Parked','Failed','Discarded');

-- Questions of one node to the node that has the site, for as long as somebody waits for the answer.
create table site_relays (
  relay uuid primary key,
  node text not null,
  tenant integer not null,
  site text not null,
  question text not null,
  asked_at timestamptz not null,
  taken boolean not null default false,
  answer text
);

-- What a site tells is no notification: the row itself says which site and operation it is about, and `origin` keeps
-- what is told twice from being written twice.
alter table audit_log add column site text;
alter table audit_log add column execution text;
alter table audit_log add column parent_execution text;
alter table audit_log add column operation uuid;
alter table audit_log add column origin uuid;
create unique index audit_by_origin on audit_log (tenant, site, origin) where origin is not null;
create index audit_by_operation on audit_log (tenant, operation, at, audit_id) where operation is not null;
