delete from event_types where tenant = ?1 and name = ?2
