-- ?1 now.
select
  l.lane_id, l.tenant, l.channel, l.provider, l.hold_reason,
  coalesce(l.next_probe <= ?1, 0) and (l.probe_until is null or l.probe_until <= ?1)
    and (l.not_before is null or l.not_before <= ?1),
  exists (select 1 from due d where d.lane = l.lane_id)
from channel_orders
cross join lanes l on l.tenant = channel_orders.tenant and l.channel = channel_orders.channel
join providers p on p.lane_id = l.lane_id
where channel_orders.failover and l.hold_reason not in ('operator', 'disabled')
order by l.lane_id
