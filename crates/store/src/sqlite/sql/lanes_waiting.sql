-- One index probe per lane, whatever the backlog.
select lane_id, next_due, next_probe, hold_reason is not null, not_before
from (
  select l.*, (select min(d.due_at) from due d where d.lane = l.lane_id) as next_due
  from lanes l
)
where next_due is not null
order by lane_id
