update schedules set token = ?1, leased_until = ?3
where seq in (
  select seq from schedules
  where status = 'Pending' and next_look_at <= ?2 and (leased_until is null or leased_until <= ?2)
  order by next_look_at, seq
  limit ?4
)
returning seq
