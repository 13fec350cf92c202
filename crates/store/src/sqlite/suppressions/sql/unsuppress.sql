delete from suppressions where tenant = ?1 and suppression_id = ?2 returning address, address_key, channel, topic
