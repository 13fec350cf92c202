-- $1 now, $2 how long they are kept, in milliseconds, $3 how many.
-- By tenant, because that is how the log is indexed. By place on disk, because its rows never move.
delete from audit_log
where ctid = any (array(
  select old.place
  from tenants
  cross join lateral (
    select a.ctid as place from audit_log a
    where a.tenant = tenants.tenant
      and a.at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
    order by a.at, a.audit_id
    limit $3::bigint
  ) old
  limit $3::bigint
))
