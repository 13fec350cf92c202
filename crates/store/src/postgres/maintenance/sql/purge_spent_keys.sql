-- $1 now, $2 how long they are kept, in milliseconds, $3 how many.
delete from spent_keys
where ctid = any (array(
  select s.ctid from spent_keys s
  where s.at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
  order by s.at
  limit $3::bigint
))
