update due set due_at = ?3 where seq = ?1 and token = ?2
