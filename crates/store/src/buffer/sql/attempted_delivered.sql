-- Names the attempt it is the result of; whoever lost the row finds nothing to delete.
delete from sf_messages where seq = ?1 and status = 0 and attempt = ?2 and attempting_at is not null returning *
