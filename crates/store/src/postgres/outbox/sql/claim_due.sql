-- $1 now, $2 lanes, $3 how many from each, $4 token, $5 lease in milliseconds, $6 where to begin in each lane (none: at its
-- start). Answers with nothing when nothing is due.
with moment as materialized (
  -- Once, not for every row.
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
    (select value::bigint from meta where key = 'directory_version') as directory_version
), wanted as materialized (
  select given.lane, given.n, coalesce(given.begin_at, '-infinity') as begin_at, lanes.config_version, lanes.pauses_version,
    providers.on_ambiguous
  from unnest($2::bigint[], $3::integer[], $6::timestamptz[]) as given (lane, n, begin_at)
  join lanes on lanes.lane_id = given.lane
  left join providers on providers.lane_id = lanes.lane_id
  where lanes.hold_reason is null
    and (lanes.not_before is null or lanes.not_before <= (select now from moment))
), durable as materialized (
  -- Claims do not wait for the disk, except where a message costs money: there a claim that is forgotten in a crash
  -- would be an attempt made twice. The setting lasts to the end of this transaction, its commit included.
  select set_config('synchronous_commit', 'on', true) from wanted where on_ambiguous = 'park' limit 1
), picked as materialized (
  -- In an array: worked out once and then looked up by place, whatever the statistics say; the rows are locked, so they
  -- stay there. As a join the same claim was seven times slower.
  select array_agg(oldest.place) as places, min(oldest.seq) as first
  from wanted
  cross join lateral (
    select d.ctid as place, d.seq from due d
    where d.lane = wanted.lane and d.due_at >= wanted.begin_at and d.due_at <= (select now from moment)
      and (d.leased_until is null or d.leased_until <= (select now from moment))
    order by d.due_at, d.seq
    limit wanted.n
    for update skip locked
  ) oldest
), versions as materialized (
  select array_agg(wanted.lane) as lanes, array_agg(wanted.config_version) as versions,
    array_agg(wanted.pauses_version) as pauses
  from wanted
)
update due
set leased_until = (select now from moment) + $5::float8 * interval '1 millisecond',
  -- A token that is still there was neither recorded nor released: that attempt was interrupted, and counts.
  attempts = due.attempts + (due.token is not null)::integer,
  claims = due.claims + 1,
  token = $4::bigint,
  last_attempt_at = (select now from moment)
from notifications n
-- `= any (array[…])` instead of `=` wherever rows are looked up by what other rows say: by an equation the planner may also merge
-- two whole tables, and does so where this one was empty when it was last looked at. With what waits now each claim would walk
-- over all of it. `between` does the same for a quarter less of the lookup's time; the planner thinks that it finds many, which changes
-- nothing here and where a message is recorded as delivered.
where due.ctid = any ((select places from picked)::tid[]) and n.seq between due.seq and due.seq
-- Columns are read by their place.
returning
  (select now from moment) as now, (select directory_version from moment) as directory_version,
  (select count(*) from durable) as durable,
  -- Once, not with every row.
  case when due.seq = (select first from picked) then (select lanes from versions) end as lanes,
  case when due.seq = (select first from picked) then (select versions from versions) end as versions,
  case when due.seq = (select first from picked) then (select pauses from versions) end as pauses,
  -- An update answers in no order: this is the order in which they are due.
  due.due_at,
  due.seq, due.lane, due.site, due.generation, due.attempts, due.unknowns, due.claims, due.waiting_since, due.code,
  due.superseded,
  n.tenant, n.id, n.created_at, n.expires_at, n.channel, n.list_name, n.recipients, n.subject, n.body, n.type_data, n.extra
