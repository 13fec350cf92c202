update lanes set pauses_version = pauses_version + 1 where lane_id = ?1
