-- Rows are numbered as they are written, so the oldest have the smallest numbers: no index on time alone is needed.
delete from audit_log
where audit_id in (select audit_id from (select audit_id, at from audit_log order by audit_id limit ?2) where at < ?1)
