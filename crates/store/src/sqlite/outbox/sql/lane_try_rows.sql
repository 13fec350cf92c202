-- What was never tried waits for its own time.
update due set due_at = ?2
where seq in (
  select seq from due
  where lane = ?1 and due_at > ?2 and attempts > 0 and (leased_until is null or leased_until <= ?2)
  order by due_at
  limit ?3
)
