-- $1 now, $2 lanes, $3 how many from each, $4 token, $5 lease in milliseconds.
-- Always one row at least: the clock and the directory version are wanted even when nothing is due.
with moment as materialized (
  -- Once, not for every row.
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
    (select value::bigint from meta where key = 'directory_version') as directory_version
), wanted as materialized (
  select given.lane, given.n, lanes.config_version, providers.on_ambiguous
  from unnest($2::bigint[], $3::integer[]) as given (lane, n)
  join lanes on lanes.lane_id = given.lane
  left join providers on providers.lane_id = lanes.lane_id
  where lanes.hold_reason is null
    and (lanes.not_before is null or lanes.not_before <= (select now from moment))
), durable as materialized (
  -- Claims do not wait for the disk, except where a message costs money: there a claim that is forgotten in a crash
  -- would be an attempt made twice. The setting lasts to the end of this transaction, its commit included.
  select set_config('synchronous_commit', 'on', true) from wanted where on_ambiguous = 'park' limit 1
), picked as materialized (
  -- In an array: worked out once and then looked up by primary key, whatever the statistics say. As a join the same
  -- claim was seven times slower.
  select array(
    select oldest.seq
    from wanted
    cross join lateral (
      select d.seq from due d
      where d.lane = wanted.lane and d.due_at <= (select now from moment)
        and (d.leased_until is null or d.leased_until <= (select now from moment))
      order by d.due_at, d.seq
      limit wanted.n
      for update skip locked
    ) oldest
  ) as seqs,
    (select array_agg(wanted.lane order by wanted.lane) from wanted) as lanes,
    (select array_agg(wanted.config_version order by wanted.lane) from wanted) as versions
), claimed as (
  update due
  set leased_until = (select now from moment) + $5::float8 * interval '1 millisecond',
    -- A token that is still there was neither recorded nor released: that attempt was interrupted, and counts.
    attempts = due.attempts + (due.token is not null)::integer,
    claims = due.claims + 1,
    token = $4::bigint,
    last_attempt_at = (select now from moment)
  where due.seq = any ((select seqs from picked)::bigint[])
  returning due.seq, due.lane, due.site, due.generation, due.attempts, due.unknowns, due.claims, due.waiting_since, due.code
)
-- Columns are read by their place.
select
  moment.now, moment.directory_version, (select count(*) from durable) as durable,
  -- The order in which they are due, once: an update answers in no order.
  case when claimed.seq = picked.seqs[1] then picked.seqs end as picked,
  case when claimed.seq = picked.seqs[1] then picked.lanes end as lanes,
  case when claimed.seq = picked.seqs[1] then picked.versions end as versions,
  claimed.seq, claimed.lane, claimed.site, claimed.generation, claimed.attempts, claimed.unknowns,
  claimed.claims, claimed.waiting_since, claimed.code,
  n.tenant, n.id, n.created_at, n.expires_at, n.channel, n.list_name, n.recipients, n.subject, n.body, n.type_data, n.extra
from moment
cross join picked
left join (claimed join notifications n on n.seq = claimed.seq) on true
