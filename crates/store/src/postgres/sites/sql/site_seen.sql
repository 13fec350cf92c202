-- $1 now, $2 tenant, $3 site, $4 central's node, $5 session, $6 milliseconds since it connected, $7 since it spoke, $8 the agent's node,
-- $9 its version, $10 peer, $11 report, $12 the agent's buffer, $13 its run, $14 its turn, $15 milliseconds after which nobody is there.
-- An older session that is still being written down does not come back over a newer one. Of two machines of a pair the one of
-- the higher turn is the site, whichever came later, as long as it was heard of lately. Who speaks for the site now is
-- in conflict with nobody until another agent comes.
insert into sites (
  tenant, site, created_at, central_node, session, connected_at, last_contact_at, agent_node, agent_version, peer, report,
  agent_buffer, agent_run
)
select
  $2::integer, $3::text, store.now, $4::text, $5::uuid, store.now - $6::float8 * interval '1 millisecond',
  store.now - $7::float8 * interval '1 millisecond', $8::text, $9::text, $10::text, $11::text,
  $12::uuid, $13::uuid
from (select coalesce($1::timestamptz, date_trunc('milliseconds', now())) as now) store
on conflict (tenant, site) do update set
  central_node = excluded.central_node,
  session = excluded.session,
  connected_at = case when sites.session = excluded.session then sites.connected_at else excluded.connected_at end,
  last_contact_at = excluded.last_contact_at,
  offline_since = null,
  offline_why = null,
  agent_node = excluded.agent_node,
  agent_version = excluded.agent_version,
  peer = excluded.peer,
  report = coalesce(excluded.report, sites.report),
  agent_buffer = excluded.agent_buffer,
  agent_run = excluded.agent_run,
  conflict_at = case when sites.session = excluded.session then sites.conflict_at end
where not exists (
    select 1 from site_machines other
    where other.tenant = $2::integer and other.site = $3::text and other.agent_node <> $8::text and other.turn > $14::bigint
      and other.last_contact_at >= coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $15::float8 * interval '1 millisecond'
  )
  and (
    sites.session is null or sites.session = excluded.session or sites.connected_at <= excluded.connected_at
    or exists (
      select 1 from site_machines there
      where there.tenant = $2::integer and there.site = $3::text and there.session = sites.session and there.turn < $14::bigint
    )
  )
