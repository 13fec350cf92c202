update schedules
set status = ?3, published_at = ?4, last_error = ?5, messages = ?6, token = null, leased_until = null, next_look_at = null
where seq = ?1 and token = ?2 and leased_until is not null and status = 'Pending'
