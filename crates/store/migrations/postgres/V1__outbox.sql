-- Content is written once; what changes is narrow. A notification is in `due` or in `outcome`, never both, never neither.
-- No foreign keys on the hot tables: their writers keep the rule, the suite counts.

create table meta (
  key text primary key,
  value text not null
);
insert into meta values ('directory_version', '1');

create table tenants (
  tenant integer generated always as identity primary key,
  name text not null unique check (length(name) between 1 and 255),
  created_at timestamptz not null
);
insert into tenants (name, created_at) values ('default', date_trunc('milliseconds', now()));

create table lanes (
  lane_id bigint generated always as identity primary key,
  tenant integer not null references tenants,
  -- '' for the lane of a channel that no provider serves
  provider text not null,
  channel text not null,
  config_version bigint not null default 1,
  hold_reason text check (hold_reason in ('auth','quota','billing','down','operator','disabled')),
  hold_detail text,
  hold_since timestamptz,
  next_probe timestamptz,
  probes integer not null default 0,
  -- one node at a time probes; until then the others leave it alone
  probe_until timestamptz,
  not_before timestamptz,
  owner text,
  owner_until timestamptz,
  unique (tenant, provider, channel),
  check ((hold_reason is null) = (hold_since is null))
);

create table notifications (
  seq bigint generated always as identity primary key,
  tenant integer not null,
  id uuid not null,
  idempotency_key text check (length(idempotency_key) <= 255),
  content_hash bigint not null,
  channel text not null,
  -- where it was routed at ingest; `due` and `outcome` say where it is now
  lane bigint not null,
  provider text,
  list_name text check (length(list_name) <= 200),
  recipients jsonb,
  subject text not null check (length(subject) <= 1000),
  body text not null check (octet_length(body) <= 1048576),
  type_data text,
  site text check (length(site) <= 255),
  instance text check (length(instance) <= 255),
  script text check (length(script) <= 255),
  execution text check (length(execution) <= 255),
  parent_execution text check (length(parent_execution) <= 255),
  entity_type text check (length(entity_type) <= 255),
  entity_id text check (length(entity_id) <= 255),
  submitted_by text not null,
  extra jsonb,
  site_enqueued_at timestamptz,
  created_at timestamptz not null,
  send_at timestamptz,
  expires_at timestamptz,
  supersede_key text check (length(supersede_key) <= 255),
  unique (tenant, id)
);
create index notifications_by_time on notifications (tenant, created_at, seq);
create index notifications_by_entity on notifications (tenant, entity_type, entity_id, seq) where entity_id is not null;

-- One row while not terminal. A claim moves due_at to the end of its lease.
create table due (
  seq bigint primary key,
  tenant integer not null,
  lane bigint not null,
  site text,
  waiting_since timestamptz not null,
  due_at timestamptz not null,
  generation integer not null default 0,
  attempts integer not null default 0,
  unknowns integer not null default 0,
  -- claims since the last record or release: above 1 at a claim means that an attempt was interrupted
  claims integer not null default 0,
  token bigint,
  last_attempt_at timestamptz,
  supersede_key text,
  code text,
  error text
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index due_by_lane on due (lane, due_at, seq);
create index due_by_tenant on due (tenant, seq);
create index due_superseded on due (tenant, supersede_key) where supersede_key is not null;

create table outcome (
  seq bigint primary key,
  tenant integer not null,
  site text,
  lane bigint not null,
  status text not null check (status in ('Delivered','Parked','Discarded')),
  at timestamptz not null,
  waiting_since timestamptz not null,
  generation integer not null,
  attempts integer not null,
  last_attempt_at timestamptz,
  code text,
  error text,
  resolved_targets jsonb,
  provider_message_id text,
  receipt text
);
create index outcome_parked on outcome (tenant, seq) where status = 'Parked';
create index outcome_by_time on outcome (at, seq);

-- Only where a notification has more than one recipient.
create table recipient_results (
  seq bigint not null,
  address text not null,
  state text not null check (state in ('Open','Accepted','Failed')),
  generation integer not null,
  provider_message_id text,
  code text,
  error text,
  at timestamptz not null,
  primary key (seq, address)
);

-- Append only. An attempt that ended its notification is one row (`ended_as`), read as two: Attempted, then the end.
create table audit_log (
  audit_id bigint generated always as identity,
  at timestamptz not null,
  tenant integer not null,
  seq bigint,
  token bigint,
  kind text not null,
  status text not null,
  ended_as text,
  actor text not null,
  target text,
  duration_ms integer,
  code text,
  detail text
);
create index audit_by_time on audit_log (tenant, at, audit_id);
create index audit_by_seq on audit_log (seq) where seq is not null;

-- Counts over time, one row per bucket, so that no figure scans history. `writer` keeps nodes off each other's rows.
create table stats (
  bucket timestamptz not null,
  tenant integer not null,
  site text not null,
  what text not null,
  writer text not null,
  n bigint not null,
  primary key (bucket, tenant, site, what, writer)
) with (fillfactor = 50);
create index stats_by_tenant on stats (tenant, what, bucket);

-- What purge leaves behind: the same id sent again is still a duplicate.
create table spent_keys (
  tenant integer not null,
  id uuid not null,
  at timestamptz not null,
  primary key (tenant, id)
);
create index spent_keys_by_time on spent_keys (at);

create table api_keys (
  key_id bigint generated always as identity primary key,
  tenant integer not null references tenants,
  name text not null check (length(name) between 1 and 255),
  role text not null check (role in ('viewer','operator','admin','ops','producer','site')),
  hash bytea not null unique,
  created_at timestamptz not null,
  revoked_at timestamptz
);
create unique index api_keys_live on api_keys (tenant, name) where revoked_at is null;

create table lists (
  tenant integer not null references tenants,
  name text not null check (length(name) between 1 and 200),
  recipients jsonb not null,
  primary key (tenant, name)
);

create table providers (
  tenant integer not null references tenants,
  id text not null check (length(id) between 1 and 255),
  name text not null,
  kind text not null,
  channel text not null,
  enabled boolean not null,
  ord integer not null,
  settings jsonb not null,
  secrets jsonb not null,
  retry jsonb not null,
  limits jsonb not null,
  on_ambiguous text not null check (on_ambiguous in ('resend','park')),
  version bigint not null,
  lane_id bigint not null references lanes,
  primary key (tenant, id)
);
create unique index providers_by_lane on providers (lane_id);

create table jobs (
  job_id uuid primary key,
  tenant integer not null references tenants,
  action text not null check (action in ('retry','discard')),
  filter text not null,
  actor text not null,
  total bigint not null,
  created_at timestamptz not null,
  done bigint not null default 0,
  skipped bigint not null default 0,
  cursor text,
  finished boolean not null default false,
  error text,
  owner text,
  owner_until timestamptz
);
create index jobs_open on jobs (created_at) where not finished;
