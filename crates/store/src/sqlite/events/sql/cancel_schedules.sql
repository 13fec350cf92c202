update schedules set status = 'Cancelled', last_error = ?5, next_look_at = null, token = null, leased_until = null,
  settled_at = ?6
where tenant = ?1 and entity_type = ?2 and entity_id = ?3 and event_type = ?4
  and event_seq < ?7
  and status = 'Pending' and next_look_at is not null
