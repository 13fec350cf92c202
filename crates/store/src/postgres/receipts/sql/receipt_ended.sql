-- $1 seq. Locks the outcome of a notification that has ended.
select generation from outcome where seq = $1::bigint for update
