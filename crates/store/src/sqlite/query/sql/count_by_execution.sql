-- At most ?3 entries of the index.
select count(*) from (
  select 1 from notifications
  where tenant = ?1 and execution = ?2
  limit ?3
)
