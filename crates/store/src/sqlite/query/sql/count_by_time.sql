-- At most ?5 entries of the index.
select count(*) from (
  select 1 from notifications
  where tenant = ?1 and created_at >= ?2 and (created_at, seq) < (?3, ?4)
  order by created_at desc, seq desc
  limit ?5
)
