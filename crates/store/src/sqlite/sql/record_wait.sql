-- Not the message's fault: due at once, uncounted, with the reason shown.
update due
set claims = claims - 1, token = null, due_at = ?3, code = ?4, error = ?5
where seq = ?1 and token = ?2
returning tenant, site, generation
