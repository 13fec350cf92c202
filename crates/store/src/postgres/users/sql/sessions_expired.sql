-- $1 now, $2 how many.
delete from sessions
where hash = any (array(
  select s.hash from sessions s
  where s.expires_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
  order by s.expires_at
  limit $2::bigint
))
