-- A token that is still there belongs to an attempt that was neither recorded nor released: it counts.
update due
set attempts = attempts + (token is not null), claims = claims + 1, token = ?2, leased_until = ?3, last_attempt_at = ?4
where seq = ?1
