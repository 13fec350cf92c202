-- $1 now, $2 tenant, $3 site, then arrays: $4 operation, $5 revision, $6 category, $7 target, $8 summary, $9 status,
-- $10 retry count, $11 error, $12 HTTP status, $13 created, $14 updated, $15 instance, $16 script, $17 node,
-- $18 execution, $19 parent execution, $20 actor.
-- News may come late or twice: only a higher revision changes the row.
insert into site_calls (
  tenant, site, operation, revision, category, target, summary, status, retry_count, error, http_status,
  created_at, updated_at, heard_at, instance, script, node, execution, parent_execution, actor
)
select
  $2::integer, $3::text, g.operation, g.revision, g.category, g.target, g.summary, g.status, g.retry_count, g.error,
  g.http_status, g.created_at, g.updated_at, coalesce($1::timestamptz, date_trunc('milliseconds', now())), g.instance,
  g.script, g.node, g.execution, g.parent_execution, g.actor
from unnest(
  $4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[], $11::text[], $12::integer[],
  $13::timestamptz[], $14::timestamptz[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[],
  $20::text[]
) as g (
  operation, revision, category, target, summary, status, retry_count, error, http_status, created_at, updated_at,
  instance, script, node, execution, parent_execution, actor
)
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
