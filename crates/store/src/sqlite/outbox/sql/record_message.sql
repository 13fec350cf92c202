insert or ignore into provider_messages (lane, message_id, seq, address, generation) values (?1, ?2, ?3, ?4, ?5)
