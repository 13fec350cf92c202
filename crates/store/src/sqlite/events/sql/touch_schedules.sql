-- Another event of the same entity: a date may have moved.
update schedules set next_look_at = ?4
where tenant = ?1 and entity_type = ?2 and entity_id = ?3 and status = 'Pending' and next_look_at > ?4
