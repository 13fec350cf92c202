select seq, generation, address from provider_messages where lane = ?1 and message_id = ?2
