-- $1 the lane that a notification is in, $2 the provider that sent it to one of its recipients: in that lane, or in another of
-- its channel before.
select l.lane_id, l.config_version, l.configured_at
from lanes home
join lanes l on l.tenant = home.tenant and l.provider = $2::text and l.channel = home.channel
where home.lane_id = $1::bigint
