update due
set claims = claims - 1, token = null, leased_until = null
where seq = ?1 and token = ?2
