delete from audit_log where seq = ?1
