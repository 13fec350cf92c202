update due
set claims = claims - 1, token = null, due_at = ?3
where seq = ?1 and token = ?2
