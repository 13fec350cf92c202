-- $1 now, $2 tenants, $3 ids. What is known about ids that were not new. No hash: purged, only the id is left.
select
  given.tenant, given.id, n.content_hash, n.created_at,
  coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
  case
    when d.seq is null then o.status
    when d.attempts = 0 then 'Pending'
    else 'Retrying'
  end as status
from unnest($2::integer[], $3::uuid[]) as given (tenant, id)
left join notifications n on n.tenant = given.tenant and n.id = given.id
left join due d on d.seq = n.seq
left join outcome o on o.seq = n.seq
