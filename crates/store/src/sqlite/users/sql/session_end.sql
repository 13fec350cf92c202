delete from sessions where hash = ?1 returning user_id, tenant
