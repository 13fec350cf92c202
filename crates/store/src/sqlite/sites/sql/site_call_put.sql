-- News may come late or twice: only a higher revision changes the row.
insert into site_calls (
  tenant, site, operation, revision, category, target, summary, status, retry_count, error, http_status,
  created_at, updated_at, heard_at, instance, script, node, execution, parent_execution, actor
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
on conflict (tenant, site, operation) do update set
  revision = excluded.revision,
  category = excluded.category,
  target = excluded.target,
  summary = coalesce(excluded.summary, site_calls.summary),
  status = excluded.status,
  retry_count = excluded.retry_count,
  error = excluded.error,
  http_status = excluded.http_status,
  updated_at = excluded.updated_at,
  heard_at = excluded.heard_at,
  instance = excluded.instance,
  script = excluded.script,
  node = excluded.node,
  execution = excluded.execution,
  parent_execution = excluded.parent_execution,
  actor = excluded.actor
where excluded.revision > site_calls.revision
