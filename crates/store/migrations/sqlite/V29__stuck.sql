-- A tenant's waiting rows are read newest first without sorting them, however many it has and others have.
create index due_by_tenant on due (tenant, seq);
