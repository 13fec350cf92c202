-- $1 now, $2 tenant, $3 stuck for milliseconds, $4 the last seq looked at, $5 how many, $6 how many acceptances are looked through.
-- What has waited so long was accepted before that, and numbers follow acceptance but for batches that were written beside each
-- other: the highest number among the last ones of that time is no lower than that of any such row.
select seq
from due
where tenant = $2::integer and seq < least($4::bigint, (
    select coalesce(max(late.seq) + 1, 0)
    from (
      select seq
      from notifications
      where tenant = $2::integer
        and created_at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $3::float8 * interval '1 millisecond'
      order by created_at desc, seq desc
      limit $6::bigint
    ) late
  ))
order by seq desc
limit $5::bigint
