select content_hash from sf_messages where id = ?1
