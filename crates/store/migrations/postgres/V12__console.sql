-- What people who look after the outbox keep and ask for.

-- Views of the list of notifications that a user comes back to.
create table saved_filters (
  user_id bigint not null references users,
  tenant integer not null references tenants,
  name text not null check (length(name) between 1 and 100),
  query text not null check (length(query) <= 4000),
  primary key (user_id, tenant, name)
);

alter table api_keys add column last_used_at timestamptz;

-- More actions, a reason, and an end that somebody ordered.
alter table jobs drop constraint jobs_action_check;
alter table jobs add constraint jobs_action_check check (action in ('retry','discard','cancel','resend'));
alter table jobs add column reason text;
alter table jobs add column stopped_by text;
create index jobs_by_tenant on jobs (tenant, created_at);
