-- $1 tenant, $2 providers, $3 since, $4 how many of each. The newest attempts of each that the log tells of: those that failed,
-- and deliveries with more to tell.
select given.provider, last.at, last.code, last.provider_code
from unnest($2::text[]) as given (provider)
cross join lateral (
  select a.at, a.code, a.provider_code
  from audit_log a
  where a.tenant = $1::integer and a.target = given.provider and a.kind = 'NotifyDeliver' and a.status = 'Attempted'
    and a.at >= $3::timestamptz
  order by a.at desc, a.audit_id desc
  limit $4::bigint
) last
