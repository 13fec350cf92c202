-- ?1 now. One index probe per lane, whatever the backlog: only rows that are being sent are stepped over.
select lane_id, next_due, next_probe, hold_reason is not null, not_before
from (
  select l.*, coalesce(
    (
      select d.due_at from due d
      where d.lane = l.lane_id and (d.leased_until is null or d.leased_until <= ?1)
      order by d.due_at, d.seq
      limit 1
    ),
    -- All of it is being sent.
    (select min(d.leased_until) from due d where d.lane = l.lane_id)
  ) as next_due
  from lanes l
)
where next_due is not null
order by lane_id
