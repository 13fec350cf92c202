-- $1 now, $2 tenant, $3 and $4 the entity, $5 event types, $6 why, $7 the event that calls off.
update schedules
set status = 'Cancelled', last_error = $6::text, next_look_at = null, token = null, leased_until = null,
  settled_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
where tenant = $2::integer and entity_type = $3::text and entity_id = $4::text and event_type = any($5::text[])
  and event_seq < $7::bigint
  -- Not the bare status: an index of all that is pending would be walked as a whole. What waits of an entity has an index of its own.
  and coalesce(status, '') = 'Pending' and next_look_at is not null
