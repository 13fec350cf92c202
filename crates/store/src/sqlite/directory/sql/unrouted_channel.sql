select tenant, channel from lanes where lane_id = ?1 and provider = ''
