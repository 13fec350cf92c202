-- $1 now, $2 tenant, $3 site, $4 the agent's node, $5 session, $6 central's node, $7 turn, $8 milliseconds since it spoke.
insert into site_machines (tenant, site, agent_node, session, central_node, turn, last_contact_at)
values (
  $2::integer, $3::text, $4::text, $5::uuid, $6::text, $7::bigint,
  coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $8::float8 * interval '1 millisecond'
)
on conflict (tenant, site, agent_node) do update set
  session = excluded.session,
  central_node = excluded.central_node,
  turn = excluded.turn,
  last_contact_at = excluded.last_contact_at
