-- Not its fault and not now: due then, uncounted, with the reason shown.
update due
set claims = claims - 1, token = null, leased_until = null, due_at = ?3, code = ?4, provider_code = ?5, error = ?6,
    in_doubt = in_doubt or ?7
where seq = ?1 and token = ?2
returning generation, superseded
