select seq from sf_messages where category = ?1 and target = ?2 and status = 0 and attempting_at is null
  and (category <> 1 or max_retries > 0)
