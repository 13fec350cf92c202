-- An older session that is still being written down does not come back over a newer one. Of two machines of a pair (?14 is the turn) the one of
-- the higher turn is the site, whichever came later, as long as it was heard of since ?15. Who speaks for the site now is
-- in conflict with nobody until another agent comes.
insert into sites (
  tenant, site, created_at, central_node, session, connected_at, last_contact_at, agent_node, agent_version, peer, report,
  agent_buffer, agent_run
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
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
    where other.tenant = ?1 and other.site = ?2 and other.agent_node <> ?8 and other.turn > ?14 and other.last_contact_at >= ?15
  )
  and (
    sites.session is null or sites.session = excluded.session or sites.connected_at <= excluded.connected_at
    or exists (
      select 1 from site_machines there
      where there.tenant = ?1 and there.site = ?2 and there.session = sites.session and there.turn < ?14
    )
  )
