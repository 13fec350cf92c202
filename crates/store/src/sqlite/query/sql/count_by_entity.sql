-- At most ?4 entries of the index.
select count(*) from (
  select 1 from notifications
  where tenant = ?1 and entity_type = ?2 and entity_id = ?3
  limit ?4
)
