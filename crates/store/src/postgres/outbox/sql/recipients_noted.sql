-- $1 seq, $2 token. The generation of a row whose lease is still held, for what is noted about its recipients while it is
-- being sent. Locks the row: whoever would take it meanwhile waits.
select generation from due where seq = $1::bigint and token = $2::bigint for update
