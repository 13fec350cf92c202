-- The machines of a pair that are connected, each by which node of central and in which turn: a question goes to the one of the
-- highest turn, wherever that is, and then to the other. A site of one machine has no row here.
create table site_machines (
  tenant integer not null,
  site text not null,
  agent_node text not null,
  session uuid not null,
  central_node text not null,
  turn bigint not null,
  last_contact_at timestamptz not null,
  primary key (tenant, site, agent_node),
  foreign key (tenant, site) references sites (tenant, site) on delete cascade
);
