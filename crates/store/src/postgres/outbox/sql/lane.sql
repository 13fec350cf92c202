-- $1 lane. Locked: what is decided about a hold is decided by one node at a time.
select tenant, provider, config_version, hold_reason, probe_until is not null as probing
from lanes
where lane_id = $1::bigint
for update
