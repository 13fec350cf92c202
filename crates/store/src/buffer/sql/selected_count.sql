-- The twin of selected.
select count(*) from sf_messages
where status = ?1 and seq > ?2 and op <= ?3 and attempting_at is null and (?1 = 2 or category <> 1)
  and (?4 is null or category = ?4)
  and (?5 is null or target = ?5)
  and (?6 is null or last_error = ?6 or substr(last_error, 1, length(?6) + 1) = ?6 || ':')
  and (?7 is null or origin_instance = ?7)
  and (?8 is null or parked_at >= ?8)
  and (?9 is null or parked_at < ?9)
