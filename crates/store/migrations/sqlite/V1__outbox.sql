-- The SQLite twin of migrations/postgres: times are milliseconds since 1970 in UTC, ids are 16-byte blobs, JSON is text.
-- Content is written once; what changes is narrow. A notification is in `due` or in `outcome`, never both, never neither.
-- No foreign keys on the hot tables: their writers keep the rule, the suite counts.

create table meta (
  key text primary key,
  value text not null
);
insert into meta values ('directory_version', '1');

create table tenants (
  tenant integer primary key autoincrement,
  name text not null unique check (length(name) between 1 and 255),
  created_at integer not null
);
insert into tenants (name, created_at) values ('default', cast(unixepoch('subsec') * 1000 as integer));

create table lanes (
  lane_id integer primary key autoincrement,
  tenant integer not null references tenants,
  -- '' for the lane of a channel that no provider serves
  provider text not null,
  channel text not null,
  config_version integer not null default 1,
  hold_reason text check (hold_reason in ('auth','quota','billing','down','operator','disabled')),
  hold_detail text,
  hold_since integer,
  next_probe integer,
  probes integer not null default 0,
  -- one node at a time probes; until then the others leave it alone
  probe_until integer,
  not_before integer,
  owner text,
  owner_until integer,
  unique (tenant, provider, channel),
  check ((hold_reason is null) = (hold_since is null))
);

-- Numbers are never used again (autoincrement): a late result must not meet a stranger under its old number.
-- No text holds a NUL, which PostgreSQL could not store and which would end length() early. A constraint has its
-- column's name: that is what the sender is told. In JSON a NUL is escaped; the writer looks for it there.
create table notifications (
  seq integer primary key autoincrement,
  tenant integer not null,
  id blob not null,
  idempotency_key text constraint idempotency_key check (idempotency_key is null or (length(idempotency_key) <= 255 and instr(idempotency_key, char(0)) = 0)),
  content_hash integer not null,
  channel text not null,
  provider text constraint provider check (provider is null or instr(provider, char(0)) = 0),
  list_name text constraint list_name check (list_name is null or (length(list_name) <= 200 and instr(list_name, char(0)) = 0)),
  recipients text,
  subject text not null constraint subject check (length(subject) <= 1000 and instr(subject, char(0)) = 0),
  body text not null constraint body check (octet_length(body) <= 1048576 and instr(body, char(0)) = 0),
  type_data text constraint type_data check (type_data is null or instr(type_data, char(0)) = 0),
  site text constraint site check (site is null or (length(site) <= 255 and instr(site, char(0)) = 0)),
  instance text constraint instance check (instance is null or (length(instance) <= 255 and instr(instance, char(0)) = 0)),
  script text constraint script check (script is null or (length(script) <= 255 and instr(script, char(0)) = 0)),
  execution text constraint execution check (execution is null or (length(execution) <= 255 and instr(execution, char(0)) = 0)),
  parent_execution text constraint parent_execution check (parent_execution is null or (length(parent_execution) <= 255 and instr(parent_execution, char(0)) = 0)),
  entity_type text constraint entity_type check (entity_type is null or (length(entity_type) <= 255 and instr(entity_type, char(0)) = 0)),
  entity_id text constraint entity_id check (entity_id is null or (length(entity_id) <= 255 and instr(entity_id, char(0)) = 0)),
  submitted_by text not null constraint submitted_by check (instr(submitted_by, char(0)) = 0),
  extra text,
  site_enqueued_at integer,
  created_at integer not null,
  send_at integer,
  expires_at integer,
  supersede_key text constraint supersede_key check (supersede_key is null or (length(supersede_key) <= 255 and instr(supersede_key, char(0)) = 0)),
  unique (tenant, id)
);
create index notifications_by_time on notifications (tenant, created_at, seq);
create index notifications_by_entity on notifications (tenant, entity_type, entity_id, seq) where entity_id is not null;

-- One row while not terminal. A claim moves due_at to the end of its lease.
create table due (
  seq integer primary key,
  tenant integer not null,
  lane integer not null,
  site text,
  waiting_since integer not null,
  due_at integer not null,
  generation integer not null default 0,
  attempts integer not null default 0,
  unknowns integer not null default 0,
  -- claims since the last record or release: above 1 at a claim means that an attempt was interrupted
  claims integer not null default 0,
  token integer,
  last_attempt_at integer,
  supersede_key text,
  code text,
  error text
);
create index due_by_lane on due (lane, due_at, seq);
create index due_by_age on due (tenant, waiting_since);
create index due_superseded on due (tenant, supersede_key) where supersede_key is not null;

create table outcome (
  seq integer primary key,
  tenant integer not null,
  site text,
  lane integer not null,
  status text not null check (status in ('Delivered','Parked','Discarded')),
  at integer not null,
  waiting_since integer not null,
  generation integer not null,
  attempts integer not null,
  last_attempt_at integer,
  code text,
  error text,
  resolved_targets text,
  provider_message_id text,
  receipt text
);
create index outcome_parked on outcome (tenant, seq) where status = 'Parked';
create index outcome_by_time on outcome (at, seq);

-- Only where a notification has more than one recipient.
create table recipient_results (
  seq integer not null,
  address text not null,
  state text not null check (state in ('Open','Accepted','Failed')),
  generation integer not null,
  provider_message_id text,
  code text,
  error text,
  at integer not null,
  primary key (seq, address)
);

-- Append only. An attempt that ended its notification is one row (`ended_as`), read as two: Attempted, then the end.
create table audit_log (
  audit_id integer primary key,
  at integer not null,
  tenant integer not null,
  seq integer,
  token integer,
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
  bucket integer not null,
  tenant integer not null,
  site text not null,
  what text not null,
  writer text not null,
  n integer not null,
  primary key (bucket, tenant, site, what, writer)
);

-- What purge leaves behind: the same id sent again is still a duplicate.
create table spent_keys (
  tenant integer not null,
  id blob not null,
  at integer not null,
  primary key (tenant, id)
);
create index spent_keys_by_time on spent_keys (at);

create table api_keys (
  key_id integer primary key autoincrement,
  tenant integer not null references tenants,
  name text not null check (length(name) between 1 and 255),
  role text not null check (role in ('viewer','operator','admin','ops','producer','site')),
  hash blob not null unique,
  created_at integer not null,
  revoked_at integer
);
create unique index api_keys_live on api_keys (tenant, name) where revoked_at is null;

create table lists (
  tenant integer not null references tenants,
  name text not null check (length(name) between 1 and 200),
  recipients text not null,
  primary key (tenant, name)
);

create table providers (
  tenant integer not null references tenants,
  id text not null check (length(id) between 1 and 255),
  name text not null,
  kind text not null,
  channel text not null,
  enabled integer not null,
  ord integer not null,
  settings text not null,
  secrets text not null,
  retry text not null,
  limits text not null,
  on_ambiguous text not null check (on_ambiguous in ('resend','park')),
  version integer not null,
  lane_id integer not null references lanes,
  primary key (tenant, id)
);
create unique index providers_by_lane on providers (lane_id);

create table jobs (
  job_id blob primary key,
  tenant integer not null references tenants,
  action text not null check (action in ('retry','discard')),
  filter text not null,
  actor text not null,
  total integer not null,
  created_at integer not null,
  done integer not null default 0,
  skipped integer not null default 0,
  cursor text,
  finished integer not null default 0,
  error text,
  owner text,
  owner_until integer
);
create index jobs_open on jobs (created_at) where not finished;
