delete from event_types where tenant = $1::integer and name = $2::text
