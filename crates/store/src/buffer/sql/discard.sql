-- Names the state it expects; what is being tried cannot be given up until that is over.
delete from sf_messages where id = ?1 and status = ?2 and attempting_at is null returning *
