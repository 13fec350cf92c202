update tombstones set payload_json = null where seq in (select value from json_each(?1)) and payload_json is not null
