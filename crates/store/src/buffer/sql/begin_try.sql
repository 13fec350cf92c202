-- Written down before the network is touched, like every attempt.
update sf_messages set attempting_at = ?2, last_attempt_at = ?2, attempt = attempt + 1, op = ?3
where id = ?1 and category <> 1 and status = 0 and attempting_at is null
returning *
