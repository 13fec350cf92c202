-- A token without a lease is no claim any more: it only tells whoever claims next that nobody touched it since.
update schedules
set status = ?3, due_at = coalesce(?4, due_at), next_look_at = ?5, attempts = attempts + ?6, last_error = ?7,
  token = iif(?9, token, null), leased_until = null, settled_at = iif(?3 = 'Pending', null, ?8)
where seq = ?1 and token = ?2 and leased_until is not null and status = 'Pending'
