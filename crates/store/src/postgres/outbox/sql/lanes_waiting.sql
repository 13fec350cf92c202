-- $1 now. One index probe per lane, whatever the backlog: only rows that are being sent are stepped over. Always one row
-- at least, for the clock, and with it the state of the queue.
with moment as (
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
    (select value::bigint from meta where key = 'directory_version') as directory_version,
    (select value::bigint from meta where key = 'stats_rolled_up_to') as condensed_to
)
select moment.now, moment.directory_version, waiting.lane_id, waiting.due_at, waiting.hold_reason is not null as held,
  waiting.next_probe, waiting.not_before,
  pg_stat_get_dead_tuples('due'::regclass) as gone, pg_stat_get_live_tuples('due'::regclass) as left,
  pg_relation_size('due'::regclass) as size,
  exists (
    select from jobs where not finished and (owner_until is null or owner_until <= moment.now)
  ) as jobs,
  exists (
    select from stats
    where bucket >= 'epoch'::timestamptz + coalesce(moment.condensed_to, 0) * interval '1 millisecond'
      and bucket < date_bin('10 seconds', moment.now, 'epoch')
  ) as counts,
  exists (
    select from due where expires_at <= moment.now and (leased_until is null or leased_until <= moment.now)
  ) as expired,
  exists (
    select from channel_orders c
    join lanes l on l.tenant = c.tenant and l.channel = c.channel
    where c.failover and l.hold_reason not in ('operator', 'disabled')
  ) as failover
from moment
left join (
  select lanes.lane_id, lanes.hold_reason, lanes.next_probe, lanes.not_before, coalesce(
    (
      select d.due_at from due d
      where d.lane = lanes.lane_id and (d.leased_until is null or d.leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
      order by d.due_at, d.seq
      limit 1
    ),
    -- All of it is being sent.
    (select min(d.leased_until) from due d where d.lane = lanes.lane_id)
  ) as due_at
  from lanes
) waiting on waiting.due_at is not null
