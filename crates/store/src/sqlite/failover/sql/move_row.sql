-- ?1 seq, ?2 generation, ?3 the lane it leaves, ?4 the lane it goes to, ?5 now. The fence: nobody is sending it, nobody can
-- have it already, it does not wait for its hours, and it has not been there before.
update due
set lane = ?4, due_at = min(due_at, ?5), attempts = 0, unknowns = 0,
  left_lanes = json_insert(coalesce(left_lanes, '[]'), '$[#]', ?3)
where seq = ?1 and generation = ?2 and lane = ?3 and token is null and claims = 0 and not in_doubt and not superseded
  and (due_at <= ?5 or code is not 'OUTSIDE_HOURS')
  and not exists (select 1 from json_each(coalesce(left_lanes, '[]')) left_lane where left_lane.value = ?4)
  and not exists (
    select 1 from recipient_results r where r.seq = ?1 and r.generation = ?2 and r.state = 'Ambiguous'
  )
returning tenant, (select n.id from notifications n where n.seq = due.seq)
