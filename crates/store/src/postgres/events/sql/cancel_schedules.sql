update schedules set status = 'Cancelled', last_error = $5::text, next_look_at = null, token = null, leased_until = null
where tenant = $1::integer and entity_type = $2::text and entity_id = $3::text and event_type = any($4::text[])
  and status = 'Pending'
