-- People who sign in to the console. A name is one person in all tenants; what they may do is said per tenant.
create table users (
  user_id integer primary key autoincrement,
  name text not null check (length(name) between 1 and 255),
  -- the name in lower case: what is looked for
  name_key text not null unique,
  -- argon2id in PHC form; null for those who come by a link or through an identity provider only
  password text,
  -- issuer and subject at the identity provider
  subject text unique,
  created_at integer not null,
  last_sign_in_at integer,
  disabled_at integer
);

create table user_roles (
  user_id integer not null references users,
  tenant integer not null references tenants,
  role text not null check (role in ('viewer','operator','admin','ops')),
  primary key (user_id, tenant)
);
create index user_roles_by_tenant on user_roles (tenant);

-- Only hashes of what the browser holds.
create table sessions (
  hash blob primary key,
  user_id integer not null references users,
  tenant integer not null references tenants,
  csrf text not null,
  created_at integer not null,
  expires_at integer not null
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

create table sign_in_links (
  hash blob primary key,
  user_id integer not null references users,
  expires_at integer not null
);

-- Counts of `stats` without sites and writers, in steps of a minute, a quarter and an hour, and figures sampled once
-- a minute: what a chart reads, so that it costs the same whatever was sent.
create table stats_rollup (
  tenant integer not null,
  step integer not null,
  bucket integer not null,
  what text not null,
  n integer not null,
  primary key (tenant, step, bucket, what)
) without rowid;

insert into meta values ('stats_rolled_up_to', '0');

-- Everything one run of a script caused.
create index notifications_by_execution on notifications (tenant, execution, seq) where execution is not null;
