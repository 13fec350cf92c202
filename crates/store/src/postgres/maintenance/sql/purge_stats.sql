-- $1 now, $2 how long they are kept, in milliseconds, $3 how many.
delete from stats
where ctid = any (array(
  select s.ctid from stats s
  where s.bucket < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
  order by s.bucket
  limit $3::bigint
))
