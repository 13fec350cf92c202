update lanes set config_version = ?2 where lane_id = ?1
