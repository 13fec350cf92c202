-- ?1 the lane that has no row to probe with, ?2 the lane to look in, ?3 now, ?4 how many rows to look at.
update due set lane = ?1
where seq = (
  select e.seq
  from (
    select * from due where lane = ?2 and due_at <= ?3 order by due_at, seq limit ?4
  ) e
  where e.token is null and e.claims = 0 and not e.in_doubt and not e.superseded and e.attempts = 0
    and exists (select 1 from json_each(e.left_lanes) left_lane where left_lane.value = ?1)
  order by e.due_at, e.seq
  limit 1
)
