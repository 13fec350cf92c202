-- Which agent speaks for a site, and the last other one that came with the same id.
alter table sites add column agent_buffer uuid;
alter table sites add column agent_run uuid;
alter table sites add column conflict_node text;
alter table sites add column conflict_peer text;
alter table sites add column conflict_version text;
alter table sites add column conflict_since timestamptz;
alter table sites add column conflict_at timestamptz;

-- Also notifications that were parked or given up at a site, and who did it.
alter table site_calls add column actor text;
alter table site_calls drop constraint site_calls_category_check;
alter table site_calls add constraint site_calls_category_check
  check (category in ('ExternalSystem','CachedDbWrite','Notification'));
