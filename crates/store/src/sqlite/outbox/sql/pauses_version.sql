select pauses_version from lanes where lane_id = ?1
