-- $1 now, $2 the lane, $3 token, $4 lease in milliseconds. Columns as in claim_due, and the hold.
with moment as (
  select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now,
    (select value::bigint from meta where key = 'directory_version') as directory_version
), probing as (
  -- The update of the lane's row is what makes it one node at a time.
  update lanes
  set probe_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $4::float8 * interval '1 millisecond'
  where lane_id = $2::bigint
    and hold_reason is not null
    and next_probe <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
    and (probe_until is null or probe_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
    and (not_before is null or not_before <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
    -- With nothing to send the probe is not used up.
    and exists (
      select from due d
      where d.lane = $2::bigint and d.due_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
        and (d.leased_until is null or d.leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
    )
  returning lane_id, pauses_version, hold_reason, hold_detail, hold_by, hold_code, hold_since, next_probe, probes
), durable as materialized (
  -- Not worth asking what the lane's messages cost: one row now and then.
  select set_config('synchronous_commit', 'on', true) from probing limit 1
), claimed as (
  update due
  set leased_until = coalesce($1::timestamptz, date_trunc('milliseconds', now())) + $4::float8 * interval '1 millisecond',
    attempts = due.attempts + (due.token is not null)::integer,
    claims = due.claims + 1,
    token = $3::bigint,
    last_attempt_at = coalesce($1::timestamptz, date_trunc('milliseconds', now()))
  where due.seq = any (array(
    select picked.seq
    from probing
    cross join lateral (
      select d.seq from due d
      where d.lane = probing.lane_id and d.due_at <= coalesce($1::timestamptz, date_trunc('milliseconds', now()))
        and (d.leased_until is null or d.leased_until <= coalesce($1::timestamptz, date_trunc('milliseconds', now())))
      order by d.due_at, d.seq
      limit 1
      for update skip locked
    ) picked
  ))
  returning due.due_at, due.seq, due.lane, due.site, due.generation, due.attempts, due.unknowns, due.claims, due.waiting_since, due.code,
    due.superseded
)
select
  moment.now, moment.directory_version, (select count(*) from durable) as durable,
  array[claimed.lane] as lanes, array[(select lanes.config_version from lanes where lanes.lane_id = claimed.lane)] as versions,
  array[probing.pauses_version] as pauses,
  claimed.due_at,
  claimed.seq, claimed.lane, claimed.site, claimed.generation, claimed.attempts, claimed.unknowns,
  claimed.claims, claimed.waiting_since, claimed.code, claimed.superseded,
  n.tenant, n.id, n.created_at, n.expires_at, n.channel, n.list_name, n.recipients, n.subject, n.body, n.type_data, n.extra,
  probing.hold_reason, probing.hold_detail, probing.hold_by, probing.hold_code, probing.hold_since, probing.next_probe, probing.probes
from moment
left join (claimed join notifications n on n.seq = claimed.seq) on true
left join probing on true
