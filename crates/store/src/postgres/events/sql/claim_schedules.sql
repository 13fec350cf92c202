-- $1 now, $2 token, $3 for how long, in milliseconds, $4 how many, $5 how many bytes of payload: the first one comes however long it is.
with due as materialized (
  select w.seq, w.event_seq, w.next_look_at, w.token from schedules w
  where w.status = 'Pending' and w.next_look_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now())) and (w.leased_until is null or w.leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
  order by w.next_look_at, w.seq
  limit $4::bigint
  for update skip locked
),
measured as materialized (
  select long.seq, long.token, count(*) over () as found,
    sum(long.bytes) over (order by long.next_look_at, long.seq rows between unbounded preceding and 1 preceding) as bytes_before
  from (
    select due.*, (select least(coalesce(octet_length(o.payload), 0), 3145729) from outbox_messages o where o.seq = due.event_seq) as bytes
    from due
  ) long
),
claimed as (
  update schedules set token = $2::bigint, leased_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $3::float8 * interval '1 millisecond'
  where seq = any(array(select m.seq from measured m where coalesce(m.bytes_before, 0) < $5::bigint))
  returning seq
)
-- With the mark of the claim before.
select m.seq, m.token as held_by, m.found
from measured m
where m.seq in (select c.seq from claimed c)
