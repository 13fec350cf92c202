select category, status, octet_length(payload_json) as bytes from sf_messages where seq = ?1
