-- What has waited too long is found by how long it has waited, however many came after it.
create index due_by_age on due (tenant, waiting_since, seq);
