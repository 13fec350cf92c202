update schedules set status = 'Pending', next_look_at = ?3, due_at = min(due_at, ?3), attempts = 0, last_error = null, published_at = null,
  settled_at = null
where tenant = ?1 and event_id = ?2 and status in ('Failed', 'Cancelled')
