-- A notification is not tried by itself: it goes with the next batch. Central hears that somebody pushed it, and so has
-- to hear when it has arrived.
update sf_messages set due_at = ?2, op = ?3, told = 1
where id = ?1 and category = 1 and status = 0 and attempting_at is null
returning *
