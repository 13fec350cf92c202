insert into site_machines (tenant, site, agent_node, session, central_node, turn, last_contact_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
on conflict (tenant, site, agent_node) do update set
  session = excluded.session,
  central_node = excluded.central_node,
  turn = excluded.turn,
  last_contact_at = excluded.last_contact_at
