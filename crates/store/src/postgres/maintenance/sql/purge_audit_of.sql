delete from audit_log where seq = any ($1::bigint[])
