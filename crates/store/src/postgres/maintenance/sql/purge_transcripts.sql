-- $1 now, $2 how long they are kept, in milliseconds, $3 how many.
delete from transcripts
where ctid = any (array(
  select t.ctid from transcripts t
  where t.at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
  order by t.at
  limit $3::bigint
))
