-- Nobody holds token 0: the old one no longer fences anything, and the next claim still counts an interruption.
update due set due_at = ?1, token = 0
where token is not null and token <> 0 and (?2 or last_attempt_at < ?3)
