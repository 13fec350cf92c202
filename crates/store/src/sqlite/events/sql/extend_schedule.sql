update schedules set messages = ?2, status = 'Published', last_error = null
where seq = ?1 and status in ('Published', 'Failed') and published_at is not null
