update waypost_outbox set taken_at = cast(unixepoch('subsec') * 1000 as integer) where event_id = ?1 and taken_at is null
