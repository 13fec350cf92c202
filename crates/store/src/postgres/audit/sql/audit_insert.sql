-- $1 now, then arrays: $2 tenant, $3 seq, $4 token, $5 kind, $6 status, $7 ended_as, $8 actor, $9 target, $10 duration,
-- $11 code, $12 the far end's own code, $13 detail.
insert into audit_log (at, tenant, seq, token, kind, status, ended_as, actor, target, duration_ms, code, provider_code, detail)
select coalesce($1::timestamptz, date_trunc('milliseconds', now())), given.*
from unnest(
  $2::integer[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::integer[],
  $11::text[], $12::text[], $13::text[]
) as given
