-- Never shortens a pause.
update lanes set not_before = max(coalesce(not_before, 0), ?2) where lane_id = ?1
