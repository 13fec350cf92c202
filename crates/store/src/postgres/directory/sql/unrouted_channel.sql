select tenant, channel from lanes where lane_id = $1::bigint and provider = ''
