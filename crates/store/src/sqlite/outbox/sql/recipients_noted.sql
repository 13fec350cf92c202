-- The generation of a row whose lease is still held, for what is noted about its recipients while it is being sent.
select generation from due where seq = ?1 and token = ?2
