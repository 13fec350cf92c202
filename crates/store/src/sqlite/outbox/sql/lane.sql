select tenant, provider, config_version, hold_reason, probe_until is not null from lanes where lane_id = ?1
