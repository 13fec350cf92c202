-- Texts that events fill. A row is one variant; what it says is in its versions, which stay for ever, because messages name
-- them.
create table message_templates (
  template_id bigint generated always as identity primary key,
  tenant integer not null references tenants,
  event_type text not null check (length(event_type) between 1 and 255),
  channel text not null,
  name text not null check (length(name) between 1 and 255),
  -- '' means every: a unique index tells nulls apart.
  language text not null,
  scope_type text not null,
  scope_id text not null,
  active boolean not null,
  version bigint not null,
  created_at timestamptz not null,
  deleted_at timestamptz
);
create unique index message_templates_live
on message_templates (tenant, event_type, channel, name, language, scope_type, scope_id) where deleted_at is null;

create table message_template_versions (
  template_id bigint not null references message_templates,
  version bigint not null,
  content text not null,
  saved_at timestamptz not null,
  saved_by text not null,
  primary key (template_id, version)
);

-- What holds for all templates of a tenant.
create table template_settings (
  tenant integer primary key references tenants,
  settings text not null
);
