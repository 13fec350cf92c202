update schedules set messages = $2::text, status = 'Published', last_error = null
where seq = $1::bigint and status in ('Published', 'Failed') and published_at is not null
