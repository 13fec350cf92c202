-- ?1 now, ?2 the start of the current bucket of counts.
select
  exists (select 1 from jobs where not finished and (owner_until is null or owner_until <= ?1)),
  exists (
    select 1 from stats
    where bucket >= coalesce((select cast(value as integer) from meta where key = 'stats_rolled_up_to'), 0) and bucket < ?2
  ),
  exists (select 1 from due where expires_at <= ?1 and (leased_until is null or leased_until <= ?1)),
  exists (
    -- In this order: nearly always nobody has asked for it.
    select 1 from channel_orders
    cross join lanes l on l.tenant = channel_orders.tenant and l.channel = channel_orders.channel
    where channel_orders.failover and l.hold_reason not in ('operator', 'disabled')
  )
