-- $1 now, $2 lane, $3 and $4 the place after which to go on (none: at the start), $5 how many to look at, $6 how many to
-- give. Every row that is given tells how many were looked at and the last of them; one row without a number tells it where
-- none is given.
with moment as materialized (
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
), examined as materialized (
  select d.seq, d.due_at, d.generation, d.left_lanes,
    d.token is null and d.claims = 0 and not d.in_doubt and not d.superseded
      -- Hours are the recipient's: another provider would be no better time.
      and (
        d.due_at <= (select now from moment)
        or (d.last_attempt_at is not null and d.code is distinct from 'OUTSIDE_HOURS')
      ) as movable
  from due d
  where d.lane = $2::bigint and (d.due_at, d.seq) > (coalesce($3::timestamptz, '-infinity'), coalesce($4::bigint, 0))
  order by d.due_at, d.seq
  limit $5::bigint
), given as materialized (
  select e.due_at, e.seq, e.generation, e.left_lanes
  from examined e
  where e.movable
    -- Looked up one by one: as a join it may begin with all notifications.
    and (select n.provider is null from notifications n where n.seq = e.seq)
    and (
      -- With a limit it stays a question about one row.
      select true from recipient_results r
      where r.seq = e.seq and r.generation = e.generation and r.state = 'Ambiguous'
      limit 1
    ) is null
  order by e.due_at, e.seq
  limit $6::bigint
)
select
  (select now from moment) as now,
  (select count(*) from examined) as examined,
  (select due_at from examined order by due_at desc, seq desc limit 1) as last_due_at,
  (select seq from examined order by due_at desc, seq desc limit 1) as last_seq,
  given.due_at, given.seq, given.generation, given.left_lanes,
  n.expires_at, n.channel, n.list_name, n.recipients, n.subject, n.body, n.type_data, n.extra
from moment
left join given on true
left join lateral (select * from notifications where notifications.seq = given.seq) n on true
order by given.due_at, given.seq
