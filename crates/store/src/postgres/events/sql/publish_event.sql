-- $1 now, $2 numbers, $3 their tenants. The fence: whoever finds a row Pending publishes it, once.
update outbox_messages o
set status = 'Published', published_at = coalesce($1::timestamptz, date_trunc('milliseconds', now())), last_error = null, tenant_id = given.tenant
from unnest($2::bigint[], $3::integer[]) as given (seq, tenant)
-- By its number: an index of what is pending, which the bare status would allow, is walked as a whole for each of them.
where o.seq = any (array[given.seq]) and coalesce(o.status, '') = 'Pending'
returning o.seq
