update lanes
set not_before = null, next_probe = case when hold_reason is null then next_probe else ?2 end
where lane_id = ?1
