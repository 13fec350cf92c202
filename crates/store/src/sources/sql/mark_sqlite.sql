-- By number and id: an id may be several tenants', and a number somebody else's once a backup was put in the place. Bytes
-- were read in hex, a number as its text.
update waypost_outbox set taken_at = cast(unixepoch('subsec') * 1000 as integer)
where seq = ?1 and (event_id = ?2 or hex(event_id) = ?2 or typeof(event_id) not in ('text', 'blob')) and taken_at is null
