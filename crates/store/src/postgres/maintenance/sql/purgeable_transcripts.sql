-- $1 now, $2 how long they are kept, in milliseconds, $3 where counting stops.
select count(*) from (
  select from transcripts
  where at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
  limit $3::bigint
) old
