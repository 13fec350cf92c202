select name, definition, version, updated_at from event_types where tenant = ?1 order by name
