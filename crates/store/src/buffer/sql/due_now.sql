-- A notification is not tried by itself: it goes with the next batch.
update sf_messages set due_at = ?2, op = ?3 where id = ?1 and category = 1 and status = 0 and attempting_at is null
returning *
