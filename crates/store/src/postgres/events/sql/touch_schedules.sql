-- $1 now; then the entities of other events: a date may have moved. Whoever looks at one now read the date as it was: its claim
-- is taken away, so that what it found changes nothing, and it is looked at again. So is the mark of one that was given back: what
-- was asked under it and is answered later is from before.
update schedules s
set next_look_at = least(s.next_look_at, coalesce($1::timestamptz, date_trunc('milliseconds', now()))), token = null, leased_until = null
from unnest($2::integer[], $3::text[], $4::text[]) as given (tenant, entity_type, entity_id)
-- By the entity: an index of all that is pending, which the bare status would allow, is walked as a whole. What waits of an
-- entity has an index of its own.
where s.tenant = any (array[given.tenant]) and s.entity_type = any (array[given.entity_type]) and s.entity_id = any (array[given.entity_id])
  and coalesce(s.status, '') = 'Pending' and s.next_look_at is not null
  and (s.next_look_at > coalesce($1::timestamptz, date_trunc('milliseconds', now())) or s.token is not null)
