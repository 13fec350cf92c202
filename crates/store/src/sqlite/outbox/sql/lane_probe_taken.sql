update lanes set probe_until = ?2 where lane_id = ?1
