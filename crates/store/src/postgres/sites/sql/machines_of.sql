-- $1 now, $2 tenant, $3 site, $4 milliseconds after which nobody is there.
select central_node, turn from site_machines
where tenant = $2::integer and site = $3::text
  and last_contact_at >= coalesce($1::timestamptz, date_trunc('milliseconds', now())) - $4::float8 * interval '1 millisecond'
order by turn desc, agent_node collate "C"
