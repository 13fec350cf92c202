select central_node, turn from site_machines
where tenant = ?1 and site = ?2 and last_contact_at >= ?3
order by turn desc, agent_node
