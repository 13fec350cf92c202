-- One index for what waits of a tenant: by number, which follows the time of acceptance, with what the figures are counted from.
drop index due_by_age;
drop index due_by_tenant;
create index due_by_tenant on due (tenant, seq, waiting_since);
