-- $1 now, $2 tenant, $3 site, then arrays: $4 occurred, $5 kind, $6 status, $7 actor, $8 target, $9 duration, $10 code,
-- $11 detail, $12 execution, $13 parent execution, $14 operation, $15 origin.
-- It happened when the site says, but not in the future: the site's clock may be wrong.
insert into audit_log (
  at, tenant, kind, status, actor, target, duration_ms, code, detail, site, execution, parent_execution, operation, origin
)
select
  least(g.occurred_at, coalesce($1::timestamptz, date_trunc('milliseconds', now()))), $2::integer, g.kind, g.status,
  g.actor, g.target, g.duration_ms, g.code, g.detail, $3::text, g.execution, g.parent_execution, g.operation, g.origin
from unnest(
  $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[], $9::integer[], $10::text[], $11::text[], $12::text[],
  $13::text[], $14::uuid[], $15::uuid[]
) as g (
  occurred_at, kind, status, actor, target, duration_ms, code, detail, execution, parent_execution, operation, origin
)
on conflict (tenant, site, origin) where origin is not null do nothing
