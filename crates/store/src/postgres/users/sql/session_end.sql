delete from sessions where hash = $1::bytea returning user_id, tenant
