-- A late success completes a parked row, which keeps its most recent failure; Discarded stays.
update outcome
set status = 'Delivered', at = ?2, attempts = max(attempts, 1),
    resolved_targets = ?3, provider_message_id = ?4
where seq = ?1 and status = 'Parked'
returning tenant, site
