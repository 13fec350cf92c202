select lane_id, config_version from lanes where tenant = ?1 and provider = ?2 and channel = ?3
