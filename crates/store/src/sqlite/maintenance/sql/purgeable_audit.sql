select count(*) from (select at from audit_log order by audit_id limit ?2) where at < ?1
