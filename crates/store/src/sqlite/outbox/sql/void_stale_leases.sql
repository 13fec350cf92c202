-- Nobody holds token 0: the old one no longer fences anything, and the next claim still counts an interruption.
update due set leased_until = null, token = 0
where token is not null and token <> 0 and (?1 or last_attempt_at < ?2)
