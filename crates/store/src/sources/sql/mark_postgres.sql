-- By number and id: an id may be several tenants', and a number somebody else's once a backup was put in the place.
update waypost.outbox_messages o set taken_at = now()
from unnest($1::bigint[], $2::uuid[]) as given (seq, event_id)
where o.seq = any (array[given.seq]) and o.event_id = given.event_id and o.taken_at is null
