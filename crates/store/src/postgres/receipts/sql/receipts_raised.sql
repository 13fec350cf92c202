-- $1 now, $2 how many. What nearly all receipts are: better news of a notification that was delivered to one recipient.
-- One statement for all of them; whatever is otherwise is left for the way that looks at each alone.
with moment as materialized (
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now
), due as (
  select receipt_id, tenant, lane, notification, generation, state,
    array_position(array['accepted', 'failed', 'delivered', 'read'], state) as rank
  from receipt_inbox
  where next_at <= (select now from moment) and not unproven and notification is not null and state <> 'failed'
  order by next_at, receipt_id
  limit $2::bigint
  for update skip locked
), best as materialized (
  select distinct on (tenant, notification, generation) tenant, notification, generation, state, rank,
    -- Looked up one by one: as a join it may begin with all of the tenant's notifications.
    (select n.seq from notifications n where n.tenant = due.tenant and n.id = due.notification) as seq
  from due
  order by tenant, notification, generation, rank desc
), raised as (
  update outcome
  set receipt = best.state, receipt_at = (select now from moment)
  from best
  where outcome.seq = any (array[best.seq]) and outcome.generation = best.generation and outcome.status || '' = 'Delivered'
    and coalesce(array_position(array['accepted', 'failed', 'delivered', 'read'], outcome.receipt), 0) < best.rank
    and not exists (select from recipient_results r where r.seq = any (array[outcome.seq]))
  returning best.tenant, best.notification, best.generation
)
delete from receipt_inbox
using due, raised
where receipt_inbox.receipt_id = due.receipt_id
  and due.tenant = raised.tenant and due.notification = raised.notification and due.generation = raised.generation
returning receipt_inbox.tenant, receipt_inbox.lane, receipt_inbox.notification
