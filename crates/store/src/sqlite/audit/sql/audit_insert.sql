insert into audit_log (at, tenant, seq, token, kind, status, ended_as, actor, target, duration_ms, code, provider_code, detail)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
