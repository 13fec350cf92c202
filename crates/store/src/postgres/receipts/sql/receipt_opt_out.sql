-- $1 the lane whose provider was called, $2 seq. What a code of that provider means for the recipient is judged by this. A tenant
-- that was removed gets no more entries, and must not keep the receipt from being done with.
select p.kind, n.extra::text as extra, n.created_at
from lanes l
join providers p on p.tenant = l.tenant and p.id = l.provider
join tenants t on t.tenant = l.tenant and t.deleted_at is null
join notifications n on n.seq = $2::bigint
where l.lane_id = $1::bigint
