select coalesce(sum(octet_length(payload_json)), 0) from sf_messages
where seq in (select value from json_each(?1)) and category = 1 and status = 0
