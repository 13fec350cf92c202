-- ?1 lane, ?2 and ?3 the place after which to go on, ?4 now, ?5 how many to look at, ?6 how many to give. Every row that is
-- given tells how many were looked at and the last of them; one row without a number tells it where none is given.
with examined as materialized (
  select seq, due_at, generation, left_lanes,
    token is null and claims = 0 and not in_doubt and not superseded
      -- Hours are the recipient's: another provider would be no better time.
      and (due_at <= ?4 or (last_attempt_at is not null and code is not 'OUTSIDE_HOURS')) as movable
  from due
  where lane = ?1 and (due_at, seq) > (?2, ?3)
  order by due_at, seq
  limit ?5
), given as (
  select e.due_at, e.seq, e.generation, e.left_lanes, n.expires_at, n.channel, n.list_name, n.recipients, n.subject, n.body,
    n.type_data, n.extra
  from examined e
  join notifications n on n.seq = e.seq
  where e.movable and n.provider is null
    and not exists (
      select 1 from recipient_results r
      where r.seq = e.seq and r.generation = e.generation and r.state = 'Ambiguous'
    )
  order by e.due_at, e.seq
  limit ?6
)
select
  (select count(*) from examined),
  (select due_at from examined order by due_at desc, seq desc limit 1),
  (select seq from examined order by due_at desc, seq desc limit 1),
  given.*
from (select 1) one
left join given on true
order by given.due_at, given.seq
