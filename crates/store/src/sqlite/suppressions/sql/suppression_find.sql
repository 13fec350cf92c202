select suppression_id, tenant, address, channel, topic, reason, source, created_at, created_by from suppressions where tenant = ?1 and address_key = ?2 and channel = ?3 and topic = ?4
