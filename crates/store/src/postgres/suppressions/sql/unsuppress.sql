delete from suppressions where tenant = $1::integer and suppression_id = $2::bigint returning address, address_key, channel, topic
