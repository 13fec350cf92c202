-- Not the message's fault: due at once, uncounted, with the reason shown.
update due
set claims = claims - 1, token = null, leased_until = null, code = ?3, provider_code = ?4, error = ?5, in_doubt = in_doubt or ?6
where seq = ?1 and token = ?2
returning generation, superseded
