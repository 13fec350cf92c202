select key_id, tenant, name, role, created_at, revoked_at, last_used_at from api_keys where tenant = $1::integer order by key_id
