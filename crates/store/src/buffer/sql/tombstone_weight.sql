select octet_length(payload_json) as bytes from tombstones where seq = ?1 and payload_json is not null
