-- Under a full disk: the pages of the content are free before anything else is written in the same transaction.
update sf_messages set payload_json = '' where seq in (select value from json_each(?1)) and category = 1 and status = 0
