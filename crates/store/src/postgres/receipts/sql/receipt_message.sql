select seq, generation, address from provider_messages where lane = $1::bigint and message_id = $2::text
