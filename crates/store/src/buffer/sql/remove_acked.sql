delete from sf_messages where seq = ?1 and category = 1 and status = 0 returning octet_length(payload_json)
