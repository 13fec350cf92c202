-- Who must not be written to. '' in channel and topic means every: a unique index tells nulls apart.
create table suppressions (
  suppression_id bigint generated always as identity primary key,
  tenant integer not null references tenants,
  -- the spelling that addresses are compared in
  address_key text not null check (length(address_key) between 1 and 512),
  address text not null,
  channel text not null,
  topic text not null,
  reason text not null,
  source text not null check (source in ('Operator','Unsubscribe','Receipt')),
  created_at timestamptz not null,
  created_by text not null,
  unique (tenant, address_key, channel, topic)
);
create index suppressions_newest on suppressions (tenant, suppression_id);

alter table recipient_results drop constraint recipient_results_state_check;
alter table recipient_results add constraint recipient_results_state_check
  check (state in ('Open','Accepted','Failed','Ambiguous','Suppressed'));
