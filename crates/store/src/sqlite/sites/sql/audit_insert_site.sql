-- It happened when the site says, but not in the future: the site's clock may be wrong.
insert into audit_log (
  at, tenant, kind, status, actor, target, duration_ms, code, detail, site, execution, parent_execution, operation, origin
)
values (min(?1, ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
on conflict (tenant, site, origin) where origin is not null do nothing
