-- What a failure is called and what it stops. The SQLite twin of migrations/postgres.

-- A far end's own code, beside the one that is the same for all kinds.
alter table due add column provider_code text;
alter table outcome add column provider_code text;
alter table audit_log add column provider_code text;

-- A newer one came while this one was being sent: if that fails, it is not tried again.
alter table due add column superseded integer not null default 0;

-- A lane can be held because a setting is wrong, and knows when one of its pauses was added. SQLite cannot change a check.
-- Providers point at lanes: what the drop leaves without a parent has one again once the rows are back.
pragma defer_foreign_keys = on;
create table lanes_kept as select * from lanes;
-- Numbers are never used again, also not those of lanes that are gone.
create table lanes_sequence as select seq from sqlite_sequence where name = 'lanes';
drop table lanes;
create table lanes (
  lane_id integer primary key autoincrement,
  tenant integer not null references tenants,
  -- '' for the lane of a channel that no provider serves
  provider text not null,
  channel text not null,
  config_version integer not null default 1,
  hold_reason text check (hold_reason in ('auth','quota','billing','config','down','operator','disabled')),
  hold_detail text,
  hold_since integer,
  next_probe integer,
  probes integer not null default 0,
  -- one node at a time probes; until then the others leave it alone
  probe_until integer,
  not_before integer,
  owner text,
  owner_until integer,
  -- goes up with every pause that is added
  pauses_version integer not null default 0,
  unique (tenant, provider, channel),
  check ((hold_reason is null) = (hold_since is null))
);
insert into lanes (
  lane_id, tenant, provider, channel, config_version, hold_reason, hold_detail, hold_since, next_probe, probes, probe_until,
  not_before, owner, owner_until
)
select
  lane_id, tenant, provider, channel, config_version, hold_reason, hold_detail, hold_since, next_probe, probes, probe_until,
  not_before, owner, owner_until
from lanes_kept;
delete from sqlite_sequence where name = 'lanes';
insert into sqlite_sequence (name, seq) select 'lanes', seq from lanes_sequence;
drop table lanes_kept;
drop table lanes_sequence;

-- What is not to be asked for just now, narrower than a lane: a recipient, a template.
create table pauses (
  lane integer not null,
  key integer not null,
  until integer not null,
  reason text not null,
  primary key (lane, key)
);

create table recipient_results_of_providers (
  seq integer not null,
  address text not null,
  state text not null check (state in ('Open','Accepted','Failed','Ambiguous')),
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
  primary key (seq, address)
);
insert into recipient_results_of_providers (seq, address, state, generation, provider_message_id, code, error, at, tries)
select r.seq, r.address, r.state, r.generation, r.provider_message_id, r.code, r.error, r.at, coalesce(d.attempts, 0)
from recipient_results r
left join due d on d.seq = r.seq;
drop table recipient_results;
alter table recipient_results_of_providers rename to recipient_results;
