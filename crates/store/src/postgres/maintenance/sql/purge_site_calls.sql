-- $1 now, $2 how long they are kept, in milliseconds, $3 how many.
delete from site_calls
where ctid = any (array(
  select s.ctid from site_calls s
  where s.heard_at < coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $2::float8 * interval '1 millisecond'
    and s.status in ('Delivered','Parked','Failed','Discarded')
  order by s.heard_at
  limit $3::bigint
))
