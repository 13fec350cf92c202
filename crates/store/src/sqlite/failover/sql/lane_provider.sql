select provider from lanes where lane_id = ?1
