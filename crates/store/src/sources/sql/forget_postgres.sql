delete from waypost.outbox_messages
where seq = any(array(
  select o.seq from waypost.outbox_messages o
  where o.taken_at < now() - $1::float8 * interval '1 millisecond'
  limit $2::bigint
))
