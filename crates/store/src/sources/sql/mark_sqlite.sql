-- By number and id: an id may be several tenants', and a number somebody else's once a backup was put in the place. An id that is
-- no text was read as one.
update waypost_outbox set taken_at = cast(unixepoch('subsec') * 1000 as integer)
where seq = ?1 and (event_id = ?2 or typeof(event_id) <> 'text') and taken_at is null
