-- One look into the index for each tenant, however long the list is.
select t.tenant from tenants t where exists (select 1 from suppressions s where s.tenant = t.tenant)
