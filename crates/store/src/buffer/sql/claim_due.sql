-- Written down before the network is touched: a crash in between is an attempt that happened.
update sf_messages set attempting_at = ?3, last_attempt_at = ?3, attempt = attempt + 1
where seq in (
  select seq from sf_messages
  where category = ?1 and target = ?2 and due_at <= ?3
    and status = 0 and attempting_at is null and (category <> 1 or max_retries > 0) and seq >= ?5
  order by due_at, seq limit ?4)
returning *
