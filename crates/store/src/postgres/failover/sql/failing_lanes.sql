-- $1 now.
with moment as (select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now)
select
  l.lane_id, l.tenant, l.channel, l.provider, l.hold_reason,
  coalesce(l.next_probe <= moment.now, false) and (l.probe_until is null or l.probe_until <= moment.now)
    and (l.not_before is null or l.not_before <= moment.now) as probe_due,
  -- Ends at the first: without the limit it may be worked out for all lanes at once.
  (select true from due d where d.lane = l.lane_id limit 1) is not null as has_rows
from moment
cross join channel_orders c
join lanes l on l.tenant = c.tenant and l.channel = c.channel
join providers p on p.lane_id = l.lane_id
where c.failover and l.hold_reason not in ('operator', 'disabled')
order by l.lane_id
