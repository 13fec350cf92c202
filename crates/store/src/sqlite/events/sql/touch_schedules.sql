-- Another event of the same entity: a date may have moved. Whoever looks at one now read the date as it was: its claim is
-- taken away, so that what it found changes nothing, and it is looked at again. So is the mark of one that was given back: what was
-- asked under it and is answered later is from before.
update schedules set next_look_at = min(next_look_at, ?4), token = null, leased_until = null
where tenant = ?1 and entity_type = ?2 and entity_id = ?3 and status = 'Pending' and next_look_at is not null
  and (next_look_at > ?4 or token is not null)
