-- $1 seq. Locks the row of a notification that still waits.
select generation from due where seq = $1::bigint for update
