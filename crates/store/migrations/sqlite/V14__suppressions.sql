-- Who must not be written to. '' in channel and topic means every: a unique index tells nulls apart. The SQLite twin of
-- migrations/postgres.
create table suppressions (
  suppression_id integer primary key autoincrement,
  tenant integer not null references tenants,
  -- the spelling that addresses are compared in
  address_key text not null check (length(address_key) between 1 and 512),
  address text not null,
  channel text not null,
  topic text not null,
  reason text not null,
  source text not null check (source in ('Operator','Unsubscribe','Receipt')),
  created_at integer not null,
  created_by text not null,
  unique (tenant, address_key, channel, topic)
);
create index suppressions_newest on suppressions (tenant, suppression_id);

-- A recipient may be left out. SQLite cannot change a check.
create table recipient_results_with_suppressed (
  seq integer not null,
  address text not null,
  state text not null check (state in ('Open','Accepted','Failed','Ambiguous','Suppressed')),
  generation integer not null,
  provider_message_id text,
  code text,
  error text,
  at integer not null,
  provider_code text,
  -- who was asked
  provider text,
  -- tries in this generation
  tries integer not null default 0,
  -- while it is open
  not_before integer,
  receipt text,
  primary key (seq, address)
);
insert into recipient_results_with_suppressed (
  seq, address, state, generation, provider_message_id, code, error, at, provider_code, provider, tries, not_before,
  receipt
)
select seq, address, state, generation, provider_message_id, code, error, at, provider_code, provider, tries, not_before,
  receipt
from recipient_results;
drop table recipient_results;
alter table recipient_results_with_suppressed rename to recipient_results;
