update due
set attempts = attempts + 1, unknowns = unknowns + ?3, claims = 0, token = null, leased_until = null, due_at = ?4, code = ?5,
    provider_code = ?6, error = ?7, in_doubt = in_doubt or ?8
where seq = ?1 and token = ?2
returning tenant, site, generation, superseded
