select owner from lanes where lane_id = ?1
