-- Of a batch that central has taken: those it was told about before, which are few. ?1 is a JSON list of places.
select * from sf_messages indexed by idx_sf_messages_told
where told = 1 and status = 0 and seq in (select value from json_each(?1))
