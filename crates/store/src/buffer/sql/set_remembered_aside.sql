-- ?1 to ?12 are what unbury returned; the table has no column for ?6 and ?12.
insert into unreadable (
  seq, set_aside_at, why, id, category, target, payload_json, max_retries, created_at,
  origin_instance, execution_id, source_script, parent_execution_id
) values (?1, ?13, ?14, ?2, 1, ?3, ?4, ?5, ?7, ?8, ?9, ?10, ?11)
on conflict do nothing
