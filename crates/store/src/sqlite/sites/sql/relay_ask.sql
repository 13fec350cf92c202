insert into site_relays (relay, node, tenant, site, question, asked_at) values (?1, ?2, ?3, ?4, ?5, ?6)
