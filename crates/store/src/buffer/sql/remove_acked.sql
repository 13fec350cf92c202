-- The very rows that were buried just before, in the same transaction.
delete from sf_messages where seq in (select value from json_each(?1)) and category = 1 and status = 0
returning octet_length(payload_json)
