insert into schedules (
  tenant, event_id, event_seq, event_type, entity_type, entity_id, status, due_at, next_look_at, last_error, messages,
  created_at, published_at
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
